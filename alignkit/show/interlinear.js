// Running text of both sides: a word that is pointed at lights its counterparts, by mouse, touch or
// keys.
{
	const $ = id => document.getElementById(id)
	const {names, size, pairs} = JSON.parse($("data").textContent)
	const main = document.querySelector("main")
	const SIGNS = {0: "possible", 1: "sure"}
	let first = 0
	let name = 0
	let pinned = false
	let lit = []

	const html = (tag, attributes, ...children) => {
		const element = document.createElement(tag)
		for (const key in attributes) element.setAttribute(key, attributes[key])
		element.append(...children)
		return element
	}

	// The links of a pair by word: for each side, position to a map of counterparts, 1 for sure ones.
	const linked = text => {
		const sides = [new Map(), new Map()]
		for (const [, i, sign, j] of text.matchAll(/(\d*)([-?])(\d*)/g))
			for (const [side, from, to] of [
				[0, i, j],
				[1, j, i],
			])
				if (from !== "") {
					if (!sides[side].has(+from)) sides[side].set(+from, new Map())
					if (to !== "") sides[side].get(+from).set(+to, +(sign === "-"))
				}
		return sides
	}

	const drawn = ([id, words, links, remarks]) => {
		const article = html("article", {}, html("h2", {}, html("bdi", {}, id)))
		article.linked = linked(links[name])
		article.words = words.map((side, which) => {
			const numbers = at => [...(article.linked[which].get(at) || [])].sort(([a], [b]) => a - b)
			const spans = side.map((word, at) => {
				const own = numbers(at)
				let marks = own.length ? [at + 1] : []
				if (which) marks = own.map(([to, sure]) => to + 1 + (sure ? "" : "?"))
				const element = html(
					"span",
					{
						role: "button",
						tabindex: at || which ? -1 : 0,
						"aria-pressed": false,
						"data-marks": marks.join(" "),
					},
					word,
				)
				if (!own.length) element.className = "unlinked"
				return Object.assign(element, {article, which, at})
			})
			article.append(
				html(
					"p",
					{dir: "auto", class: "text", role: "group", "aria-label": which ? "target" : "source"},
					...spans.flatMap(span => [span, " "]),
				),
			)
			return spans
		})
		const own = remarks.filter(([who]) => who === name)
		if (own.length)
			article.append(
				html(
					"dl",
					{},
					...own.flatMap(([, kind, text]) => [
						html("dt", {}, kind),
						html("dd", {dir: "auto"}, text),
					]),
				),
			)
		return article
	}

	const turn = (to, focus) => {
		first = Math.max(0, Math.min(to, Math.floor((pairs.length - 1) / size) * size))
		pinned = false
		dark()
		main.replaceChildren(...pairs.slice(first, first + size).map(drawn))
		const last = Math.min(first + size, pairs.length)
		const [begin, end, every] = [first + 1, last, pairs.length].map(k => k.toLocaleString("en"))
		$("place").textContent = `pairs ${begin} to ${end} of ${every}`
		$("page").value = first / size + 1
		$("previous").disabled = !first
		$("next").disabled = last === pairs.length
		if (focus) scrollTo(0, 0)
	}

	const dark = () => {
		for (const element of lit) {
			element.classList.remove("here", "with", "sure", "possible")
			element.setAttribute("aria-pressed", false)
		}
		lit = []
		$("said").replaceChildren()
	}

	// Light some words of a side, their counterparts, and the words with the same counterparts.
	const light = (span, end = span) => {
		dark()
		const {article, which} = span
		const own = article.words[which]
		const others = article.words[1 - which]
		const back = article.linked[1 - which]
		const chosen = own.slice(Math.min(span.at, end.at), Math.max(span.at, end.at) + 1)
		const reached = new Map()
		for (const {at} of chosen)
			for (const [to, sure] of article.linked[which].get(at) || [])
				reached.set(to, Math.max(sure, reached.get(to) || 0))
		const mark = (element, kind) => {
			element.classList.add(kind)
			lit.push(element)
		}
		for (const to of reached.keys())
			for (const at of back.get(to).keys()) if (!chosen.includes(own[at])) mark(own[at], "with")
		for (const element of chosen) mark(element, "here")
		for (const [to, sure] of reached) mark(others[to], SIGNS[sure])
		span.setAttribute("aria-pressed", pinned)
		const ordered = [...reached].sort(([a], [b]) => a - b)
		const empty = chosen.every(({at}) => article.linked[which].has(at))
			? "aligned to nothing"
			: "no link"
		const parts = ordered.flatMap(([to, sure], n) => [
			n ? ", " : "",
			html("bdi", {}, others[to].textContent),
			` (${SIGNS[sure]})`,
		])
		$("said").replaceChildren(
			html("bdi", {}, chosen.map(({textContent}) => textContent).join(" ")),
			": ",
			...(parts.length ? parts : [empty]),
		)
	}

	const word = event => event.target.closest?.("main [role=button]")
	let anchor = null

	const go = (to, extend) => {
		if (!to) return
		for (const element of to.article.words.flat()) element.tabIndex = -1
		to.tabIndex = 0
		const start =
			extend && anchor?.article === to.article && anchor.which === to.which ? anchor : to
		pinned = false
		to.focus()
		anchor = start
		light(anchor, to)
	}

	// The word above or below: its first counterpart, or the nearest one; beyond, that of the next
	// pair.
	const across = ({article, which, at}, step) => {
		if (which + step === 0 || which + step === 1) {
			const [to] = [...(article.linked[which].get(at)?.keys() || [])].sort((a, b) => a - b)
			const others = article.words[1 - which]
			return others[to ?? Math.min(at, others.length - 1)]
		}
		const next = step > 0 ? article.nextElementSibling : article.previousElementSibling
		return next && (next.words[1 - which][0] || next.words[which][0])
	}

	main.addEventListener("keydown", event => {
		const span = word(event)
		const own = span?.article.words[span.which]
		if (!span || event.altKey || event.ctrlKey || event.metaKey) return
		const forward = getComputedStyle(span.parentElement).direction === "rtl" ? -1 : 1
		const moves = {
			ArrowRight: () => go(own[span.at + forward], event.shiftKey),
			ArrowLeft: () => go(own[span.at - forward], event.shiftKey),
			ArrowDown: () => go(across(span, 1)),
			ArrowUp: () => go(across(span, -1)),
			Home: () => go(own[0], event.shiftKey),
			End: () => go(own.at(-1), event.shiftKey),
			Enter: () => span.click(),
			" ": () => span.click(),
			Escape: () => {
				pinned = false
				dark()
			},
		}
		if (!moves[event.key]) return
		event.preventDefault()
		moves[event.key]()
	})
	main.addEventListener("focusin", event => {
		if (pinned || !word(event)) return
		anchor = word(event)
		light(anchor)
	})
	main.addEventListener(
		"mouseover",
		event => !pinned && !getSelection().toString() && word(event) && light(word(event)),
	)
	main.addEventListener(
		"mouseout",
		event => !pinned && !getSelection().toString() && word(event) && dark(),
	)
	main.addEventListener("click", event => {
		const span = word(event)
		const again = pinned && lit.includes(span) && span.ariaPressed === "true"
		if (!span || getSelection().toString()) return
		pinned = !again
		light(span)
	})
	document.addEventListener("selectionchange", () => {
		const {anchorNode, focusNode, isCollapsed} = getSelection()
		const ends = [anchorNode, focusNode].map(node =>
			node?.parentElement?.closest("main [role=button]"),
		)
		if (!isCollapsed && ends[0] && ends[1] && ends[0].parentElement === ends[1].parentElement)
			light(...ends)
	})
	$("previous").addEventListener("click", () => turn(first - size, true))
	$("next").addEventListener("click", () => turn(first + size, true))
	$("page").addEventListener("change", event => turn((event.target.value - 1) * size, true))
	$("page").max = Math.ceil(pairs.length / size) || 1
	$("annotator").replaceChildren(...names.map((text, value) => html("option", {value}, text)))
	$("annotator").addEventListener("change", event => {
		name = +event.target.value
		turn(first, name < 0)
	})
	$("chosen").hidden = names.length < 2
	$("pages").hidden = pairs.length <= size
	$("controls").hidden = false
	turn(0)
}
