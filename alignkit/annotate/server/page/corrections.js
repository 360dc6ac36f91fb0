// How many links annotators correct in each pair, as a picture and a table.
import {$, html, svg} from "./dom.js"
import {clock, number} from "./figures.js"
import {plural} from "./words.js"

const WIDTH = 640
const HEIGHT = 200
const LEFT = 34
const RIGHT = 8
const TOP = 10
const BOTTOM = 34

export function corrected({corrections: found, learning}) {
	$("corrections").hidden = !found
	if (!found) return
	$("learning").textContent = learning
	$("learning").hidden = !learning
	$("corrections").querySelector("figure").replaceChildren(picture(found))
	$("corrected-parts").replaceChildren(...found.parts.map(part))
}

const cell = text => html("td", {}, text)
const ordinals = (first, last) => (first < last ? `${first} to ${last}` : String(last))

function part({first, last, until, taught_from: few, taught_to: many, differ, drawn, f1}) {
	let from = "not learned"
	if (few) from = `learned from ${ordinals(few, many)}`
	else if (many) from = `some learned from up to ${many}`
	return html(
		"tr",
		{},
		html("th", {scope: "row"}, ordinals(first, last)),
		cell(clock(until)),
		cell(from),
		html("td", {}, html("b", {}, differ.toFixed(1))),
		cell(drawn.toFixed(1)),
		cell(number(f1)),
	)
}

function picture({pairs, each, line, sets}) {
	const most = Math.max(1, ...each, ...line.map(([, mean]) => mean))
	const step = stepOf(most)
	const top = Math.ceil(most / step) * step
	const x = pair => LEFT + ((WIDTH - LEFT - RIGHT) * (pair - 0.5)) / pairs
	const y = value => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / top
	const text = (kind, x, y, ...what) => svg("text", {class: kind, x, y}, ...what)
	const grid = Array.from({length: top / step + 1}, (_, k) => k * step).flatMap(value => [
		svg("path", {class: "grid", d: `M${LEFT} ${y(value)}H${WIDTH - RIGHT}`}),
		text("up", LEFT - 6, y(value) + 4, String(value)),
	])
	const dots = each.map((value, k) =>
		svg("circle", {class: "pair", cx: x(k + 1), cy: y(value), r: 2}),
	)
	const marks = sets.map(done => `M${x(done + 0.5)} ${HEIGHT - BOTTOM + 2}v6`).join("")
	const [[, first]] = line
	const [, last] = line.at(-1)
	const change = `${first.toFixed(1)} at first, ${last.toFixed(1)} last`
	const learned = `new suggestions ${plural(sets.length, "time")}`
	const label = `Corrections per pair over ${plural(pairs, "done pair")}: ${change}; ${learned}`
	return svg(
		"svg",
		{viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label},
		...grid,
		...dots,
		svg("path", {
			class: "mean",
			d: `M${line.map(([pair, mean]) => `${x(pair)} ${y(mean)}`).join("L")}`,
		}),
		svg("path", {class: "sets", d: marks || null}),
		text("", LEFT, HEIGHT - 8, "1"),
		text("end", WIDTH - RIGHT, HEIGHT - 8, `${pairs} done`),
	)
}

// 1, 2, 5, 10, ...: about four lines up to the most.
function stepOf(most) {
	const scale = 10 ** Math.floor(Math.log10(most / 4))
	const found = [1, 2, 5, 10].find(one => one * scale >= most / 4) * scale
	return Math.max(1, found)
}
