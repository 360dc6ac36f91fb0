// Where each key of the moves leads, null where nowhere: pure, so that a script can plan with it.
import {likeliest} from "./suggest.js"

const WAYS = {left: [0, -1], right: [0, 1], up: [-1, 0], down: [1, 0]}

// `shows(index)` says whether a cell shows a link, settled or not.
export function move(pair, place, name, rtl, shows = index => pair.values[index] > 0) {
	const [way, back] = name.split("-")
	if (way in WAYS) return step(pair, place, WAYS[way], rtl)
	if (way === "far") return far(pair, place, WAYS[back], rtl, shows)
	const turn = back ? -1 : 1
	const size = pair[way].length + 1
	const from = place[way === "source" ? 0 : 1]
	for (let x = 1; x < size; x++) {
		const at = (from + turn * x + size) % size
		if (at < size - 1 && isBare(pair, way, at, shows)) return pair.place(likeliest(pair, way, at))
	}
	return null
}

// One step as seen: the nulls are the last row and the rightmost column, whichever way the columns
// run.
function step({n, m}, [i, j], [down, across], rtl) {
	const seen = x => (rtl && x < m ? m - 1 - x : x)
	const fit = (x, most) => Math.max(0, Math.min(most, x))
	const to = [fit(i + down, n), seen(fit(seen(j) + across, m))]
	return to[0] === n && to[1] === m ? [i, j] : to // no cell in the corner of the nulls
}

// To the next link on the way, else to the last word, else to the nulls.
function far(pair, place, way, rtl, shows) {
	for (let edge = null; ; ) {
		const to = step(pair, place, way, rtl)
		const index = pair.index(to)
		if (String(to) === String(place)) return edge || place
		if (shows(index)) return to
		if (way[1] ? to[1] === pair.m : to[0] === pair.n) return edge || to
		edge = place = to
	}
}

// Has a word no link, neither one that it only shows?
function isBare(pair, side, at, shows) {
	if (!pair.unaligned(side, at)) return false
	const row = side === "source"
	const cells = pair.inside(row ? [at, at, 0, pair.m] : [0, pair.n, at, at])
	return !cells.some(shows)
}
