// The panel beside the matrix, drawn after it, when there is time.
import {choicesOf} from "./choices.js"
import {$, button, html, item, key, on, say, set} from "./dom.js"
import {onComment} from "./keypress.js"
import {mark, offer} from "./labels.js"
import {atomic} from "./phrases.js"
import {cellName, cellOf, cellState, commentKey, keyName, plural, spanName} from "./words.js"

const MOST_PHRASES = 40
const MOST_LINKS = 300
const FEW_STOPS = 20 // with more, it is said how many of them are probably right
const row = (act, name, about, kind = "") =>
	item(button(act, kind, html("span", {dir: "auto"}, name), html("small", {}, about)))
const more = count => (count > 0 ? [item(`and ${count} more`)] : [])
const busy = list => list.contains(document.activeElement)

// Fill a list, unless one is in it by keyboard.
function list(id, items) {
	if (!busy($(id))) $(id).replaceChildren(...items)
}

// For a finger, what Enter does has a place of its own.
const likeEnterFirst = choices => [
	...choices.filter(({current}) => current),
	...choices.filter(({current}) => !current),
]

export class Panel {
	constructor(app) {
		this.app = app
		import("./legend.js").then(
			({legend}) => legend($("legend")),
			() => {},
		) // nobody waits for it
		this.scheme = app.project.scheme || {}
		const {labels = [], flags = []} = this.scheme
		$("judgment").hidden = !labels.length && !flags.length
		offer(
			app,
			this.scheme,
			value => app.act.judge(app.pair.judgment === value ? "" : value, app.pair.flags),
			app.act.judge,
		)
		on($("links"), "toggle", () => this.links())
		on($("comment-on"), "change", () => this.recall())
		onComment(
			$("comment"),
			() => this.keep(),
			() => app.matrix.focus(),
		)
	}

	draw() {
		this.pair = this.app.pair
		for (const part of ["counts", "keys", "phrases", "judged", "comments", "links"]) this[part]()
		const {marks} = this.pair
		$("lost").hidden = !marks.length
		list(
			"lost-list",
			marks
				.slice(0, 50)
				.map(({text, note}) => item([`${text}: was linked`, note].filter(Boolean).join("; "))),
		)
	}

	// How many words are left to look at, what Done keeps, and where suggestions come from.
	counts() {
		const {app, pair} = this
		const {hints} = pair
		const {route, side} = app
		const stops = route.stops().length
		const kept = app.kept().size
		const looked = route.count - stops
		say("route-side", `Words of the ${side}`)
		const left = stops ? `${stops} to look at` : "none to look at"
		say("to-look", left)
		set($("looked-bar"), {max: route.count || 1, value: looked})
		const parts = []
		const right = stops > FEW_STOPS ? route.right() : 0
		if (right) parts.push(`About ${right} are right as shown.`)
		if (kept) parts.push(`Ctrl+Enter keeps ${plural(kept, "link")} not looked at.`)
		say("kept", pair.done ? "" : parts.join(" "))
		say("other-side", `By ${side === "source" ? "target" : "source"} words `)
		$("other-side").append(key("a"))
		const {by, bulk} = hints
		say("hide", hints.shown ? "Hide" : "Show")
		$("hide").hidden = !hints.cells.length
		const about = [by && `${by[0].toUpperCase()}${by.slice(1)}.`, bulk && `${bulk}.`]
		say("suggested-by", about.filter(Boolean).join(" "))
		$("suggested-by").title = $("suggested-by").textContent
		$("without-suggestions").hidden = !app.doc.hidden
		this.choices()
	}

	// What the word one is at can be linked to, as a list of keys that can be clicked too, and as
	// buttons for a finger.
	choices() {
		const {app} = this
		const {at, route, note} = app
		const choices = at === null ? [] : choicesOf(app)
		say("at-word", at === null ? "" : app.wordOf(at))
		list(
			"choices",
			choices.map(({sign, name, about, act, current}) =>
				item(
					button(
						act,
						current ? "current" : "",
						key(sign),
						html("span", {dir: "auto"}, name),
						html("small", {}, about),
					),
				),
			),
		)
		const stops = route.stops().length
		$("finger-word").replaceChildren(
			at === null ? app.ending() : html("b", {dir: "auto"}, app.wordOf(at)),
			html("small", {}, at === null ? "" : ` ${stops} left `),
			html("small", {class: "note"}, note),
		)
		$("finger-choices").replaceChildren(
			...likeEnterFirst(choices).flatMap(({finger, act, current}) =>
				finger ? [button(act, current ? "main" : "", html("span", {dir: "auto"}, finger))] : [],
			),
		)
	}

	// The keys that do something now.
	keys() {
		const {app} = this
		const {at, cell, pair, route} = app
		const steps = kind => pair[kind].length || app.session.more(kind)
		const links = at === null ? 0 : route.shown(at).size
		const settled = at !== null && route.settled(at)
		let enter = links ? "keep" : "no link"
		if (settled) enter = "next"
		const others = route.next(at ?? app.last) !== undefined
		const word = at !== null && !cell
		const here = app.index
		const held = pair.values[here] || app.hinted.has(here)
		const spelling = app.lettering
		const hints = spelling
			? [
					["a-z", spelling.own ? "go to word" : "link alone", true],
					["⇧a-z", "add, remove", !spelling.own],
					["Esc", "no letters", true],
				]
			: [
					["↵", cell ? "accept" : enter, at !== null],
					["⇧1-9", "add, remove", word && route.rated],
					["i", "by letter", word && !route.rated],
					["s", "sure", cell],
					["d", "possible", cell],
					["x", "no link", cell && held],
					["m", "go to word", !cell],
					["j", word && !settled ? "skip" : "next word", others],
					["u", "undo", steps("undo")],
					["r", "redo", steps("redo")],
					["?", "keys", true],
					["Ctrl+↵", "done", true],
				]
		$("hints").replaceChildren(
			...hints
				.filter(([, , works]) => works)
				.map(([name, text]) => html("span", {}, key(name), ` ${text}`)),
		)
	}

	// The phrase pairs of all links, those too that words show which are not settled.
	phrases() {
		const {pair} = this
		const {phrase, act} = this.app
		const boxes = atomic(this.app.whole)
		const others = boxes.filter(box => String(box) !== String(phrase))
		const shown = others.slice(0, MOST_PHRASES)
		if (phrase) shown.unshift(phrase)
		const drawn = `${pair.source} ${boxes.length} ${phrase} ${shown.join(" ")}`
		if (drawn === this.drawn) return
		this.drawn = drawn
		$("phrase-count").textContent = `Phrase pairs: ${boxes.length} atomic`
		list("phrase-list", [
			...shown.map(box =>
				row(
					() => act.show(box, true),
					spanName(pair, box),
					`${box[1] - box[0] + 1} × ${box[3] - box[2] + 1}`,
					box === phrase ? "current" : "",
				),
			),
			...more(boxes.length - shown.length),
		])
	}

	judged() {
		const {judgment, flags: held} = this.pair
		const {labels = [], flags = []} = this.scheme
		const known = [...labels, ...flags].map(({value}) => value)
		$("foreign").textContent = [judgment, ...held]
			.filter(value => value && !known.includes(value))
			.join(", ")
		mark(this.pair, this.scheme)
	}

	recall() {
		this.about = $("comment-on").value
		$("comment").value = this.raw = this.app.pair.comments.get(this.about) || ""
		this.recalled = $("comment").value // which may have other ends of lines
	}

	// Write down what stands in the comment field, over what stood there when it was filled.
	keep() {
		const {value} = $("comment")
		const {recalled, raw} = this
		if (recalled === undefined || value === recalled) return
		this.raw = this.recalled = value.replace(/[^\P{Cc}\n\t]/gu, "").trim()
		this.app.act.remark(this.about, this.raw, raw)
	}

	comments() {
		const {pair, app} = this
		const where = $("comment-on")
		if (!busy($("comment")) && !busy(where)) {
			const name = commentKey(pair, app.index)
			where.replaceChildren(
				html("option", {value: name}, `on ${keyName(pair, name)}`),
				html("option", {value: ""}, "on the pair"),
			)
			where.value = pair.values[app.index] || pair.comments.has(name) ? name : ""
			this.recall()
		}
		list(
			"comment-list",
			[...pair.comments].slice(0, 50).map(([name, text]) =>
				item(
					html("span", {dir: "auto"}, text),
					button(
						() => (cellOf(name) ? app.go(pair.spot(...cellOf(name)), true) : $("comment").focus()),
						"plain",
						`${app.project.annotator}, on ${keyName(pair, name)}`,
					),
				),
			),
		)
	}

	// The links as a list, made only while it is open.
	links() {
		const {pair, app} = this
		const count = pair.links()
		const indices = [...pair.values.keys()].filter(index => pair.values[index])
		$("link-count").textContent = plural(count, "link")
		if ($("links").open)
			list("link-list", [
				...indices
					.slice(0, MOST_LINKS)
					.map(index =>
						row(
							() => app.go(pair.place(index), true),
							cellName(pair, ...pair.cell(index)),
							cellState(pair, index).split(";")[0],
						),
					),
				...more(count - MOST_LINKS),
			])
	}
}
