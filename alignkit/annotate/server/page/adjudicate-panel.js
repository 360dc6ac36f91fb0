// What stands beside the matrix: the differences at the left, the votes on one and what follows
// from them at the right.
import {AGREED, DECIDED, effects, JUDGED, placeOf, REOPENED} from "./adjudicate-cases.js"
import {vote} from "./adjudicate-matrix.js"
import {$, button, html, item, key, on, set, svg} from "./dom.js"
import {mark, offer} from "./labels.js"
import {cellName, keyName, NAMES, plural, spanName} from "./words.js"

const MOST = 300
const MOST_PHRASES = 8
const busy = list => list.contains(document.activeElement)
const fill = (list, rows) => list.replaceChildren(...rows)
const HOW = {
	hand: "drawn by hand",
	singly: "accepted singly",
	bulk: "accepted in bulk",
	kept: "kept",
	imported: "imported",
}
const day = at => new Date(at).toLocaleDateString("en", {day: "numeric", month: "short"})
const listed = names =>
	names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]

const spoken = new Map() // labels and flags as annotators see them
export const valueName = (place, value) =>
	place === JUDGED
		? value
				.map(one => spoken.get(one) || one)
				.filter(Boolean)
				.join(", ") || "not judged"
		: NAMES[value]

// What a decision is about: "in detail ~ specific".
export function groupName(pair, group) {
	if (group[0].key === JUDGED) return "judgment"
	const places = group.map(({key}) => placeOf(key))
	const [rows, columns] = [0, 1].map(side => places.map(place => place[side]))
	if (places.length === 1 || rows.includes(-1) || columns.includes(-1))
		return places
			.map(([i, j]) => cellName(pair, i, j))
			.slice(0, 4)
			.join(", ")
	return spanName(pair, [
		Math.min(...rows),
		Math.max(...rows),
		Math.min(...columns),
		Math.max(...columns),
	])
}

const swatch = (value, hue) =>
	svg("svg", {width: 15, height: 15, "aria-hidden": "true"}, vote(value, hue, [1, 1, 14, 14]))
const shown = (place, value, hue) => (place === JUDGED ? [] : [swatch(value, hue)])

export class Panel {
	constructor(app) {
		this.app = app
		on($("note"), "change", () => app.keepNote())
		on($("note"), "keydown", event => {
			if (
				event.key === "Escape" ||
				(event.key === "Enter" && !event.shiftKey && !event.isComposing)
			) {
				event.preventDefault()
				app.keepNote()
				app.matrix.focus()
			}
		})
		this.scheme = app.project.scheme || {}
		const {labels = [], flags = []} = this.scheme
		for (const {value, name} of [...labels, ...flags]) spoken.set(value, name)
		offer(
			app,
			this.scheme,
			value => app.judge(value, app.pair.flags),
			(label, flags) => app.judge(label, flags),
		)
		on($("agreed"), "toggle", () => this.lists())
	}

	draw() {
		for (const part of ["lists", "votes", "effect", "comments", "judgments", "sources", "status"])
			this[part]()
	}

	// The list at the left.
	lists() {
		const {open, decided, agreed, group, pair, voters} = this.app
		const current = new Set(group.map(one => one.key))
		const row = one => {
			const [{key: place, votes, why, state}] = one
			const here = current.has(place)
			const told = state === REOPENED ? "changed since" : why && this.reason(why)
			const marks = html(
				"span",
				{class: "votes"},
				...votes.flatMap((value, at) => [
					...shown(place, value, at),
					html(
						"small",
						{},
						place === JUDGED ? `${voters[at].name}: ${valueName(place, value)}` : NAMES[value],
					),
				]),
			)
			const made = button(() => this.app.toGroup(one, true), here ? "current" : "")
			made.append(html("b", {dir: "auto"}, groupName(pair, one)))
			if (told) made.append(html("small", {class: "chip"}, told))
			made.append(marks)
			return item(set(made, {"aria-current": here ? "true" : null}))
		}
		const put = (name, title, groups, make) => {
			$(`${name}-count`).textContent = `${title}: ${groups.length}`
			if (busy($(`${name}-list`))) this.later = true
			else fill($(`${name}-list`), make(groups.slice(0, MOST)))
		}
		put("open", "To settle", open, groups =>
			groups.length
				? groups.map(row)
				: [item(html("span", {class: "quiet"}, `nothing: ${this.app.nothing}`))],
		)
		put("decided", "Settled by decision", decided, groups => groups.map(row))
		put("agreed", "Settled by agreement", agreed, groups =>
			$("agreed").open ? groups.map(row) : [],
		)
		for (const name of ["open", "decided"])
			$(`${name}-list`).querySelector(".current")?.scrollIntoView({block: "nearest"})
	}

	name(id) {
		return this.app.voters.find(voter => voter.id === id)?.name ?? "a former annotator"
	}

	// The votes on the difference at the cursor.
	votes() {
		const {
			app,
			app: {group, pair, voters},
		} = this
		const [{key: place, votes, value, why}] = group
		$("about-name").textContent =
			groupName(pair, group) + (why ? `: gold has ${valueName(place, value)}` : "")
		fill(
			$("votes"),
			voters.map((voter, at) => {
				const made = button(
					() => app.decide({vote: at}),
					"vote-of",
					key(String(at + 1)),
					...shown(place, votes[at], at),
					html(
						"span",
						{},
						html("span", {}, `${voter.name}: `, html("b", {}, valueName(place, votes[at]))),
						html("small", {}, this.how(voter, group)),
					),
				)
				made.disabled = at > 8
				return made
			}),
		)
		$("own").hidden = place === JUDGED
		$("own-judgment").hidden = place !== JUDGED
		mark(pair, this.scheme)
		if (document.activeElement !== $("note")) app.recallNote()
	}

	// Why a place was decided as it is; nothing where all agreed.
	reason({why, as}) {
		if (why === "own") return "own"
		return why === "vote" ? `as ${this.name(as)}` : ""
	}

	how(voter, group) {
		const told = new Set()
		const unseen = voter.unseen.map(String)
		let latest = ""
		for (const {key} of group) {
			const [how, at] = voter.how.get(key) || []
			if (how) told.add(HOW[how] + (unseen.includes(key) ? ", not looked at" : ""))
			if (at > latest) latest = at
		}
		const parts = [...told, latest && day(latest)]
		if (voter.shown === false) parts.push("no suggestions shown")
		else if (voter.shown) parts.push("suggestions shown")
		return parts.filter(Boolean).join(", ")
	}

	// What the votes change in phrase pairs.
	effect() {
		const {group, pair, items, voters} = this.app
		const [{key: place, votes}] = group
		const list = $("effect-list")
		const values =
			place === JUDGED
				? []
				: [...new Set([...votes, ...group.filter(({why}) => why).map(({value}) => value)])]
		const whose = value =>
			listed(voters.filter((_, at) => votes[at] === value).map(({name}) => name)) || "decided"
		const level = ({sure, possible}) => {
			if (sure) return possible ? "sure" : "sure alone"
			return possible ? "possible" : "none"
		}
		const found = values.length > 1 ? effects(pair, items, group, values) : []
		$("effect").hidden = place === JUDGED
		$("effect-count").textContent = `What it changes: ${plural(found.length, "phrase pair")}`
		const rows = found
			.slice(0, MOST_PHRASES)
			.map(([box, told]) =>
				item(
					html("b", {dir: "auto"}, spanName(pair, box)),
					html(
						"small",
						{},
						told.map((one, at) => `${level(one)} as ${whose(values[at])}`).join("; "),
					),
				),
			)
		if (found.length > MOST_PHRASES) rows.push(item(`and ${found.length - MOST_PHRASES} more`))
		fill(
			list,
			rows.length
				? rows
				: [
						item(
							html(
								"span",
								{class: "quiet"},
								values.length > 1 ? "no phrase pair" : "nothing: all votes are equal",
							),
						),
					],
		)
	}

	comments() {
		const {
			app,
			app: {group, pair, voters},
		} = this
		const here = new Set(group.map(({key}) => placeOf(key).join("-")))
		const said = [
			...voters.flatMap(({name, comments}) => comments.map(([place, text]) => [name, place, text])),
			...[...pair.comments].map(([place, text]) => ["gold", place, text]),
		]
		said.sort((a, b) => here.has(b[1]) - here.has(a[1]))
		if (!busy($("comment-list")))
			fill(
				$("comment-list"),
				said.slice(0, 50).map(([name, place, text]) =>
					item(
						html("span", {dir: "auto"}, text),
						button(() => app.toPlace(place), "plain", `${name}, on ${keyName(pair, place)}`),
					),
				),
			)
	}

	judgments() {
		const {
			app,
			app: {pair, voters, items},
		} = this
		const one = items.find(({key}) => key === JUDGED)
		const rows = voters.map(({name}, at) => [
			name,
			one ? valueName(JUDGED, one.votes[at]) : "not judged",
		])
		if (one) {
			const settled = one.state === AGREED || one.why
			rows.push(["gold", settled ? valueName(JUDGED, one.value) : "to settle"])
		}
		fill(
			$("judgments").tBodies[0],
			rows.map(([name, told]) =>
				html("tr", {}, html("th", {scope: "row"}, name), html("td", {}, told)),
			),
		)
		$("judgments").onclick = () => {
			if (one) app.toGroup([one], true)
		}
		const {labels = []} = this.scheme
		$("judgments").parentNode.hidden = !pair || (!labels.length && !one)
	}

	// How many places of gold come from where.
	sources() {
		const {items, voters} = this.app
		const rows = []
		const count = test => items.filter(one => one.key !== JUDGED && test(one))
		const told = found => {
			const dropped = found.filter(({value}) => !value).length
			return String(found.length) + (dropped ? `, ${dropped} dropped` : "")
		}
		const add = (name, found) => {
			if (found.length) rows.push([name, told(found)])
		}
		add(
			`agreed by ${voters.length > 2 ? "all" : listed(voters.map(({name}) => name))}`,
			count(({state}) => state === AGREED),
		)
		for (const {id, name} of voters)
			add(
				`as ${name}`,
				count(({state, why}) => state === DECIDED && why.as === id),
			)
		add(
			"own",
			count(({state, why}) => state === DECIDED && why.why === "own"),
		)
		add(
			"changed since, to settle again",
			count(({state}) => state === REOPENED),
		)
		fill(
			$("sources").tBodies[0],
			rows.map(([name, text]) =>
				html("tr", {}, html("th", {scope: "row"}, name), html("td", {}, text)),
			),
		)
	}

	// What is said of the difference at the cursor, or of the cell under the mouse; and the keys that
	// do something now.
	status() {
		const {
			app,
			app: {
				group,
				pair,
				voters,
				note,
				open,
				judging,
				matrix: {pointed: hovered},
			},
		} = this
		const own = hovered && pair.cell(pair.index(hovered)).join()
		const away = own && !group.some(({key}) => key === own)
		const [{key: place, votes}] = away
			? [{key: own, votes: voters.map(voter => voter.at(own))}]
			: group
		const said = voters.map(({name}, at) => `${name} ${valueName(place, votes[at])}`).join(" · ")
		const status = [
			html("strong", {dir: "auto"}, away ? cellName(pair, ...hovered) : groupName(pair, group)),
			` ${said}`,
		]
		if (note) status.push(html("span", {class: "said"}, note))
		fill($("status-text"), status)
		const hints = [
			...voters.slice(0, 3).map(({name}, at) => [String(at + 1), `${name}’s`, true]),
			["s d x", "your own", !judging],
			["j k", `next, previous difference (${open.length})`, open.length],
			["u", "undo", app.steps("undo")],
			["r", "redo", app.steps("redo")],
			["Ctrl+↵", "done, next pair", !open.length],
		]
		fill(
			$("hints"),
			hints
				.filter(([, , works]) => works)
				.map(([names, text]) => html("span", {}, ...names.split(" ").map(key), ` ${text}`)),
		)
	}
}
