// What keys, buttons and pointer do, by name.
import {$, set} from "./dom.js"
import {last, NONE, POSSIBLE, SURE, writesOf} from "./model.js"
import {move} from "./moves.js"
import {blockers, closure} from "./phrases.js"
import {show as dialog} from "./question.js"
import {Session} from "./session.js"
import {above, open} from "./suggest.js"
import {describe, dropped, plural} from "./words.js"

export function actions(app) {
	const way = keyName => keyName.replace("Arrow", "").toLowerCase()
	const moved = name => move(app.pair, app.cursor, name, app.rtl)
	const within = ([i, j]) => [Math.min(i, app.pair.n - 1), Math.min(j, app.pair.m - 1)]

	// Give cells their values, as one event.
	const write = (how, wanted, bulk = false) => {
		const {
			pair,
			pair: {hints},
		} = app
		const data = pair.edit(how, wanted, {bulk})
		if (!data) return false
		const told = describe(pair, writesOf({data}))
		const suggested = wanted
			.map(([index]) => index)
			.filter(index => hints.shown && hints.p.has(index))
		if (suggested.length) data.set = hints.set
		if (suggested.length < 1000)
			data.p = suggested
				.map(index => [...pair.cell(index), hints.p.get(index)])
				.filter(row => row[2] !== null)
		if (bulk) data.threshold = app.project.threshold
		if (data.cells.length || data.bulk)
			return app.commit("edit", data, told + (dropped(pair, data.cells) && " (u undoes)"))
		const {rejected, set: name, p} = data
		return app.commit("reject", {rejected, set: name, p}, told)
	}
	const put = (cells, value) =>
		write(
			cells.length > 1 ? "block" : "cell",
			cells.map(index => [index, value]),
		)
	const take = (how, cells, bulk) => {
		const wanted = cells
			.filter(index => open(app.pair, index))
			.map(index => [index, app.pair.hints.strength.get(index)])
		return wanted.length && write(how, wanted, bulk) ? wanted.length : 0
	}

	// On to the next doubtful cell, keeping what was said.
	const onward = changed => {
		const {note} = app
		const to = moved("doubtful")
		if (!to && !changed)
			return app.say("no doubtful cell is left: Ctrl+Enter marks the pair as done")
		if (to) app.go(to)
		if (changed) app.say(note, false)
	}

	const select = name => {
		const anchor = app.anchor || app.cursor
		Object.assign(app, {anchor, cursor: within(moved(name)), note: ""})
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
		if (!app.commit(kind, data, told) || !cell) return
		app.go(pair.spot(...cell))
		app.say(told, false)
	}

	const exporting = title => {
		$("export-dialog").querySelector("h2").textContent = title
		dialog("export-dialog")
	}

	const toggle = () =>
		app.commit(
			"done",
			{before: app.pair.done, after: !app.pair.done},
			app.pair.done ? "no longer done" : "done",
		)
	const onwards = () => {
		if (!app.pair.done) toggle()
		app.leaving(turn => app.onward(turn))
	}

	// The button goes through all unaligned words: those of the source, then those of the target.
	let side = "source"
	const unaligned = () => {
		const {pair, cursor} = app
		const x = Number(side === "target")
		const other = x ? "source" : "target"
		let to = moved(side)
		if (!(to?.[x] > cursor[x])) {
			const turned = move(pair, [pair.n, pair.m], other)
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
			else
				app.say(
					name.startsWith("doubtful")
						? "no other cell is doubtful"
						: `no other unaligned ${name.split("-")[0]} word`,
				)
		},
		sure: () => put(app.chosen(), SURE),
		possible: () => put(app.chosen(), POSSIBLE),
		none: () => put(app.chosen(), NONE),
		// By key what is chosen; by pointer a place.
		cycle(place) {
			if (Array.isArray(place)) app.go(place, true, true)
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
			app.moved(true, true)
			put(cells, cells.every(index => app.pair.values[index]) ? NONE : SURE)
		},
		accept: () => onward(take("accept", app.chosen())),
		reject() {
			const cells = app.chosen().filter(index => app.pair.values[index] || open(app.pair, index))
			onward(cells.length && put(cells, NONE))
		},
		"accept-all"() {
			const {threshold} = app.project
			const count = take("accept-all", above(app.pair, threshold), true)
			if (count) app.moved()
			app.say(
				count
					? `${plural(count, "suggestion")} accepted, not looked at yet`
					: app.pair.hints.bulk || `no open suggestion from ${Math.round(100 * threshold)} %`,
			)
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
		escape: () => app.go(app.cursor),
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
			app.redraw()
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
