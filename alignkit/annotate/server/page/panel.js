// The panel beside the matrix, drawn after it, when there is time.
import {$, button, html, item, key, on, set} from "./dom.js"
import {onComment} from "./keyboard.js"
import {mark, offer} from "./labels.js"
import {atomic} from "./phrases.js"
import {above, doubtful, open} from "./suggest.js"
import {cellName, cellOf, cellState, commentKey, keyName, plural, spanName} from "./words.js"

const MOST_PHRASES = 40
const MOST_LINKS = 300
const row = (act, name, about, kind = "") =>
	item(button(act, kind, html("span", {dir: "auto"}, name), html("small", {}, about)))
const more = count => (count > 0 ? [item(`and ${count} more`)] : [])
const busy = list => list.contains(document.activeElement)

// Fill a list, unless one is in it by keyboard.
function list(id, items) {
	if (!busy($(id))) $(id).replaceChildren(...items)
}

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

	counts() {
		const {
			pair,
			pair: {
				hints: {cells, shown, p},
				values,
				rejected,
			},
		} = this
		const {threshold} = this.app.project
		const high = above(pair, threshold).length
		const count = test => cells.filter(test).length
		const taken = count(index => values[index])
		const told = (number, word) => (shown ? `${number} ${word}` : "")
		const rated = cells.some(index => p.get(index) !== null)
		const least = rated ? `from ${Math.round(100 * threshold)} % ` : ""
		const texts = {
			taken: told(taken, "taken") || "hidden",
			open: told(
				count(index => open(pair, index)),
				"open",
			),
			hide: shown ? "Hide" : "Show",
			rejected: told(
				count(index => !values[index] && rejected[index]),
				"rejected",
			),
			above: `Accept all ${least}(${high})`,
		}
		const {by, bulk} = pair.hints
		texts["suggested-by"] = [by && `${by[0].toUpperCase()}${by.slice(1)}.`, bulk && `${bulk}.`]
			.filter(Boolean)
			.join(" ")
		for (const id in texts) $(id).textContent = texts[id]
		$("suggestions").hidden = !cells.length
		$("without-suggestions").hidden = !this.app.doc.hidden
		set($("taken-bar"), {max: cells.length || 1, value: shown ? taken : 0})
		$("accept-all").disabled = !high
	}

	// The keys that do something now; the main ones have a line of their own as long as they are new.
	keys() {
		const {
			app,
			app: {pair},
		} = this
		const chosen = app.chosen()
		const can = chosen.some(index => open(pair, index))
		const held = chosen.some(index => pair.values[index])
		const steps = kind => pair[kind].length || app.session.more(kind)
		const doubts = pair.hints.cells.filter(index => doubtful(pair, index)).length
		const words = ["source", "target"].flatMap(side =>
			pair[side].filter((_, at) => pair.unaligned(side, at)),
		).length
		const hints = [
			["↵", "accept", can],
			["⌫", can ? "reject" : "remove", can || held],
			["j", `doubtful (${doubts})`, doubts],
			["w t", `unaligned (${words})`, words],
		]
		const main = [
			["Ctrl+↵", "done, next pair", true],
			["u", "undo", steps("undo")],
			["r", "redo", steps("redo")],
		]
		const first = [
			["s", "sure link", true],
			["d", "possible link", true],
			["Space", "sure, possible, none in turn", true],
			["?", "all keys", true],
			["x", "no link", can || held],
		]
		const shown = rows =>
			rows
				.filter(([, , works]) => works)
				.map(([names, text]) => html("span", {}, ...names.split(" ").map(key), ` ${text}`))
		$("hints").replaceChildren(...shown(app.novice ? hints : [...hints, ...main.slice(1), main[0]]))
		$("main-keys").replaceChildren()
		if (app.novice) {
			const all = [...first.slice(0, 3), main[0], ...first.slice(3), ...main.slice(1)]
			$("main-keys").append(...shown(all))
		}
	}

	phrases() {
		const {pair} = this
		const {phrase, act} = this.app
		const boxes = atomic(pair)
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
