// The outlines of the marks in a cell of a given size, around its upper left corner.
import {svg} from "./dom.js"
import {open, sure} from "./suggest.js"

const known = new Map()

// The classes and the path of what a cell shows; null where it shows nothing. `likely` are the links
// that words show which are not settled, by index; without it all suggestions are shown.
export function markOf(pair, index, size, likely) {
	const value = pair.values[index]
	const made = shapes(size)
	if (pair.isNull(index)) {
		if (value) return [value === 2 ? "null" : "null maybe", made.null]
		return likely?.has(index) ? ["null maybe", made.null] : null
	}
	if (value) return [value === 2 ? "sure" : "possible", pair.bulk[index] ? made.unseen : made.box]
	if (likely) {
		if (!likely.has(index)) return null
		return [likely.get(index) === 2 ? "likely" : "likely maybe", made.box]
	}
	if (pair.rejected[index]) return pair.hints.shown ? ["rejected", made.cross] : null
	if (!open(pair, index)) return null
	const level = levelOf(sure(pair, index))
	return [`ring r${level}`, made.rings[level]]
}

// 0 to 3: a suggestion is a dot; from .1, .6, .9 on a ring that is larger and less broken.
export const levelOf = p => [0.1, 0.6, 0.9].filter(least => p >= least).length

export function shapes(size) {
	if (known.has(size)) return known.get(size)
	const edge = Math.max(2, Math.round(size * 0.12)) + 0.5
	const middle = size / 2
	const arm = size * 0.14
	const wide = size * 0.27
	const box = rounded(edge, edge, size - edge, size - edge, 3)
	const corner = edge + size * 0.2
	const cut = size * 0.28
	const made = {
		box,
		unseen: box + circle(size - corner, corner, Math.max(2.4, size * 0.12)),
		cross: `M${middle - arm} ${middle - arm}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`,
		rings: [
			circle(middle, middle, Math.max(2, size * 0.09)),
			arcs(middle, middle, size * 0.21, 4, 0.5),
			arcs(middle, middle, size * 0.28, 3, 0.78),
			circle(middle, middle, size * 0.34),
		],
		null: `${circle(middle, middle, wide * 0.85)}M${middle - wide} ${middle + wide}l${2 * wide} ${-2 * wide}`,
		note: (x, y) => `M${x + size - 1} ${y + 1}v${cut}l${-cut} ${-cut}z`,
	}
	known.set(size, made)
	return made
}

export function rounded(left, top, right, bottom, r) {
	const arc = (x, y) => `A${r} ${r} 0 0 1 ${x} ${y}`
	return [
		`M${left + r} ${top}`,
		`H${right - r}${arc(right, top + r)}`,
		`V${bottom - r}${arc(right - r, bottom)}`,
		`H${left + r}${arc(left, bottom - r)}`,
		`V${top + r}${arc(left + r, top)}Z`,
	].join("")
}

export const circle = (x, y, r) =>
	`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`

// A ring in so many pieces, of which each has a share of its part.
const arcs = (x, y, r, count, share) =>
	Array.from({length: count}, (_, at) => {
		const [from, to] = [-share, share]
			.map(half => ((at + half / 2) * 2 * Math.PI) / count - Math.PI / 2)
			.map(turn => `${(x + r * Math.cos(turn)).toFixed(2)} ${(y + r * Math.sin(turn)).toFixed(2)}`)
		return `M${from}A${r} ${r} 0 0 1 ${to}`
	}).join("")

// The hatching of what is possible, as a pattern named `id`.
export const hatch = id =>
	svg(
		"defs",
		{},
		svg(
			"pattern",
			{id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
			svg("rect", {width: 5, height: 5, class: "paper"}),
			svg("rect", {width: 2.5, height: 5, class: "ink"}),
		),
	)
