// What keys, buttons and pointer do, by name.
import {$, announce, set} from "./dom.js"
import {last, NONE, POSSIBLE, SURE, writesOf} from "./model.js"
import {move} from "./moves.js"
import {blockers, closure} from "./phrases.js"
import {show as dialog} from "./question.js"
import {Session} from "./session.js"
import {describe, dropped, plural} from "./words.js"

const MOST = 1000 // cells of which an event says how likely they were

export function actions(app) {
	const way = keyName => keyName.replace("Arrow", "").toLowerCase()
	const moved = name => move(app.pair, app.cursor, name, app.rtl, app.shows)
	const within = ([i, j]) => [Math.min(i, app.pair.n - 1), Math.min(j, app.pair.m - 1)]

	// Send an edit with what was suggested of the cells that it writes, and how likely they were.
	const send = (data, told) => {
		if (!data) return false
		const {hints} = app.pair
		const written = [...data.cells, ...(data.rejected ?? [])].map(([i, j]) => app.pair.at(i, j))
		about(data, new Set(written))
		const said = told ?? describe(app.pair, writesOf({data}))
		if (data.cells.length || data.bulk || data.settled)
			return app.commit("edit", data, said + (dropped(app.pair, data.cells) && " (u undoes)"))
		const {rejected, p} = data
		return app.commit("reject", {rejected, set: hints.set, p}, said)
	}
	const about = (data, indices) => {
		const {pair, route} = app
		const {hints} = pair
		if (!hints.shown || !hints.cells.length || indices.size >= MOST) return
		const suggested = [...indices].filter(index => hints.p.has(index))
		if (suggested.length) data.set = hints.set
		data.p = suggested.map(index => [...pair.cell(index), hints.p.get(index) ?? null])
		data.q = [...indices]
			.filter(index => route.likelihood(index) !== undefined)
			.map(index => [...pair.cell(index), Number(route.likelihood(index).toFixed(4))])
	}

	// Give cells their values, as one event, with what else their words show.
	const put = (cells, value) => send(app.route.put(cells, () => value))
	const write = (how, wanted) => send(app.pair.edit(how, wanted))

	// Give the word one is at its links; say what it has now.
	const settle = links => {
		const {at, route} = app
		const data = route.settle(at, links)
		const name = app.wordOf(at)
		return send(data, `${name}: ${app.linksOf(links)}`)
	}

	// On to the next doubtful word, keeping what was said.
	const onward = () => {
		const {note} = app
		app.last = app.at ?? app.last
		app.toWord(app.route.next(app.last))
		if (note && app.at !== null) app.say(note, false)
		else if (note) announce(`${note}. ${app.ending()}`)
	}

	// A key of a word: where no word is framed, it brings the last one back.
	const atWord = act => (keyName, name) => {
		if (app.at === null && !app.cell) return app.toWord(app.last)
		return act(keyName, name)
	}

	// The links of the word with one of them added or removed.
	const switched = other => {
		const {at, route} = app
		const links = new Map(route.shown(at))
		links.delete(route.others)
		if (!links.delete(other)) links.set(other, route.strength(at, other))
		settle(links)
		app.toWord(at, undefined, true)
		app.switched = other
	}
	const alone = other => {
		settle(new Map([[other, app.route.strength(app.at, other)]]))
		onward()
	}
	const candidate = keyName => app.route.candidates(app.at)[Number(keyName) - 1]

	// What `s` and `d` act on: a cell or box; the link that was switched last; else all of the word.
	const strengthen = value => {
		const {at, route, switched: other} = app
		if (app.cell) return put(app.chosen(), value)
		const links = new Map(route.shown(at))
		links.delete(route.others)
		if (other !== null) links.set(other, value)
		else if (!links.size) links.set(route.home(at), value)
		else for (const linked of links.keys()) links.set(linked, value)
		settle(links)
		app.toWord(at, undefined, true)
		app.switched = other
	}

	const select = name => {
		const anchor = app.anchor || app.cursor
		Object.assign(app, {anchor, cursor: within(moved(name)), note: ""})
		app.atCell()
		app.box = app.spanned(anchor, app.cursor)
		app.moved()
		app.outline(true)
	}

	// Undo or redo a step.
	const back = async kind => {
		if (app.session.more(kind)) {
			app.leave()
			const all = await app.deeper(kind)
			if (!all) return
			app.use(new Session(all, app.wire))
			app.redraw()
		}
		const {pair} = app
		const data = pair.inverse(kind)
		const undo = kind === "undo"
		if (!data) return app.say(`nothing to ${kind}`)
		const told = `${undo ? "undone" : "redone"}: ${describe(pair, writesOf(undo ? last(pair.undo) : {data}))}`
		const [cell] = data.cells || data.rejected || []
		const [word] = data.settled || []
		if (!app.commit(kind, data, told) || !(cell || word)) return
		const [i, j] = word ?? cell
		const at = app.route.words(pair.spot(i, j))[0]
		if (word && at < app.route.count) app.toWord(at)
		else app.go(pair.spot(...(cell ?? word)))
		app.say(told, false)
	}

	const exporting = title => {
		$("export-dialog").querySelector("h2").textContent = title
		dialog("export-dialog")
	}

	// Mark the pair as done, or as no longer done. What words show that nobody looked at is kept, and
	// is stored as such in the same event.
	const toggle = () => {
		const {pair} = app
		const turn = {before: pair.done, after: !pair.done}
		if (pair.done) return app.commit("done", turn, "no longer done")
		const kept = app.kept()
		if (!kept.size) return app.commit("done", turn, "done")
		const data = {...pair.edit("done", kept, {bulk: true}), threshold: app.route.least}
		about(data, new Set(kept.keys()))
		const stops = app.route.stops().length
		const words = stops ? ` and ${plural(stops, "doubtful word")}` : ""
		const told = `done, with ${plural(kept.size, "link")}${words} not looked at`
		return app.commit("done", {...data, ...turn}, told)
	}
	// On to the next pair, where it is said what was kept in this one.
	const onwards = async () => {
		const {doc, pair} = app
		const kept = !pair.done && app.kept().size
		if (!pair.done) toggle()
		const told = `${doc.id}: ${app.note}`
		await app.leaving(turn => app.onward(turn))
		if (kept && app.doc !== doc) app.say(told, false)
	}

	// The button goes through all unaligned words: those of the source, then those of the target.
	let side = "source"
	const unaligned = () => {
		const {pair, cursor} = app
		const x = Number(side === "target")
		const other = x ? "source" : "target"
		let to = moved(side)
		if (!(to?.[x] > cursor[x])) {
			const turned = move(pair, [pair.n, pair.m], other, app.rtl, app.shows)
			if (turned) [side, to] = [other, turned]
		}
		if (to) app.go(to)
		else app.say("all words are aligned")
	}

	// Select a box; the cursor goes into it.
	const show = (box, focus) => {
		const [top, bottom, left, right] = box
		const inside = app.pair.inside(box).includes(app.index)
		if (!inside) app.cursor = [top, left]
		Object.assign(app, {
			box,
			anchor: String(app.cursor) === String([top, left]) ? [bottom, right] : [top, left],
			note: "",
		})
		app.atCell()
		app.moved(focus)
		app.outline(true)
	}

	return {
		write,
		show,
		unaligned,
		back,
		step: keyName => app.go(moved(way(keyName))),
		far: keyName => app.go(moved(`far-${way(keyName)}`)),
		select: keyName => select(way(keyName)),
		"select-far": keyName => select(`far-${way(keyName)}`),
		jump(_, name) {
			const to = moved(name)
			if (to) app.go(to)
			else app.say(`no other unaligned ${name.split("-")[0]} word`)
		},
		sure: atWord(() => strengthen(SURE)),
		possible: atWord(() => strengthen(POSSIBLE)),
		none: atWord(() => {
			if (app.cell) return put(app.chosen(), NONE)
			settle(new Map())
			app.toWord(app.at, undefined, true)
		}),
		// By key what is chosen; by pointer a place.
		cycle(place) {
			if (Array.isArray(place)) app.go(place, true, true)
			else if (app.at === null && !app.cell) return app.toWord(app.last)
			const cells = app.chosen()
			const held = new Set(cells.map(index => app.pair.values[index]))
			put(cells, held.size > 1 ? SURE : [SURE, NONE, POSSIBLE][[...held][0]])
		},
		// A dragged block is drawn sure; a full one is cleared. The button switches what a finger does.
		block(from, to) {
			if (!Array.isArray(from))
				return set($("block"), {"aria-pressed": $("block").ariaPressed !== "true"})
			const box = app.spanned(from, to)
			const cells = app.pair.inside(box)
			Object.assign(app, {box, anchor: from, cursor: within(to)})
			app.atCell()
			app.moved(true, true)
			put(cells, cells.every(index => app.pair.values[index]) ? NONE : SURE)
		},
		// As the word shows it; at a cell or in a box with what is suggested there.
		accept: atWord(() => {
			const {cell, at, pair, route} = app
			if (cell) {
				const taken = app
					.chosen()
					.filter(index => pair.hints.shown && pair.hints.p.has(index) && !pair.values[index])
				send(route.put(taken, index => pair.hints.strength.get(index)))
			}
			if (at !== null && !app.box) settle(route.shown(at))
			onward()
		}),
		reject: atWord(() => {
			if (app.cell) put(app.chosen(), NONE)
			else settle(app.route.none(app.at))
			onward()
		}),
		candidate: atWord(keyName => {
			const other = candidate(keyName)
			if (other !== undefined) alone(other)
		}),
		switch: atWord(keyName => {
			const other = candidate(keyName)
			if (other !== undefined) switched(other)
		}),
		before: atWord(() => {
			const links = app.route.before(app.at)
			if (!links) return app.say("the word before has no link")
			settle(links)
			onward()
		}),
		letters: atWord(() => app.letter(false)),
		"letters-own": () => app.letter(true),
		// A word that was named by its letter.
		lettered(own, at, add) {
			if (own) app.toWord(at)
			else if (add) switched(at)
			else alone(at)
		},
		side: () => app.otherSide(),
		doubtful: () => app.toWord(app.route.next(app.at ?? app.last, 1) ?? app.at),
		"doubtful-back": () => app.toWord(app.route.next(app.at ?? app.last, -1) ?? app.at),
		// On a phone the buttons that act on cells are shown when they are asked for.
		cells() {
			const open = $("cells").ariaPressed !== "true"
			set($("cells"), {"aria-pressed": open})
		},
		undo: () => app.reverse("undo"),
		redo: () => app.reverse("redo"),
		grow() {
			const [i, j] = app.cursor
			const from = app.box || (!app.pair.isNull(app.index) && [i, i, j, j])
			const box = from && closure(app.pair, from)
			if (box) show(box)
			else app.say("no link here to start from")
		},
		// To the links that block the box, in turn; the box stays outlined.
		blocker() {
			const places = app.box ? blockers(app.pair, app.box) : []
			if (!places.length) return app.say(app.box ? "nothing blocks this box" : "select a box first")
			app.cursor = places[(places.map(String).indexOf(String(app.cursor)) + 1) % places.length]
			app.atCell()
			app.moved()
			app.outline()
		},
		phrases() {
			app.level = (app.level + 1) % 3
			app.say(
				["the phrase at the cursor", "all atomic phrase pairs", "composite phrase pairs too"][
					app.level
				],
			)
		},
		escape() {
			if (app.at === null && app.cell) app.go(app.cursor)
			else app.toWord(app.at, undefined, true)
		},
		done: onwards,
		finished(text) {
			app.say(text)
			exporting(text[0].toUpperCase() + text.slice(1))
		},
		"toggle-done": toggle,
		// The button in the header: on to the next pair, or no longer done.
		mark: () => (app.pair.done ? toggle() : onwards()),
		next: () => app.load(app.doc.next),
		previous: () => app.load(app.doc.previous),
		judge(value, held) {
			const {judgment, flags} = app.pair
			const data = {}
			const off = app.project.scheme.flags
				.filter(({on = []}) => on.length && !on.includes(value))
				.map(flag => flag.value)
			held = held.filter(flag => !off.includes(flag))
			if (value !== judgment) data.label = [judgment, value]
			if (String(held) !== String(flags)) data.flags = [flags, held]
			if (data.label || data.flags) app.commit("judge", data, "judgment saved")
		},
		comment() {
			app.panel.draw()
			$("comment").focus()
		},
		remark(name, text, before = app.pair.comments.get(name) || "") {
			if (before !== text)
				app.commit(
					"comment",
					{key: name, before, after: text},
					text ? "comment saved" : "comment removed",
				)
		},
		label() {
			const field = $("judgment").querySelector(":checked, input, button")
			if (field) field.focus()
			else app.say("pairs are not judged in this project")
		},
		// On a phone the panel shows the judgment alone until it is unfolded.
		unfold() {
			const open = $("unfold").ariaExpanded !== "true"
			set($("unfold"), {"aria-expanded": open})
		},
		hide() {
			app.shown = app.pair.hints.shown = !app.shown
			app.open()
			app.routed()
			app.redraw()
			app.toWord(app.at ?? app.route.next(-1))
			app.say(`suggestions are ${app.shown ? "shown" : "hidden"}`)
		},
		find: () => app.find(),
		history: () =>
			app.late("dialogs", ({happened, history}) =>
				history(app.wire, app.session.k, happened(app.session.view)),
			),
		"own-links": () => app.late("concordance", ({ownLinks}) => ownLinks(app, 0)),
		"own-links-target": () => app.late("concordance", ({ownLinks}) => ownLinks(app, 1)),
		guidelines: () => $("guidelines").click(),
		help: () => app.late("dialogs", ({help}) => help()),
		export: () => exporting("Export"),
		close: () => document.querySelector("dialog[open]").close(),
	}
}
