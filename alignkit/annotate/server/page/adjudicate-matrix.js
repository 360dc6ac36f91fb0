// The matrix of votes: what is open in stripes, a voter each; what is settled with a letter that
// tells whose it is.
import {draw, path, set, svg} from "./dom.js"
import {AGREED, DECIDED, JUDGED, placeOf} from "./adjudicate-cases.js"
import {Matrix} from "./matrix.js"
import {hatch, rounded, shapes} from "./shapes.js"
import {cellOf, NAMES} from "./words.js"

export const HUES = 4 // of voters; then they come again, told apart by place and letter

// The mark of a value in the colour of a voter, between two edges: [element].
export function vote(value, hue, [left, top, right, bottom]) {
	const d = `M${left} ${top}H${right}V${bottom}H${left}Z`
	return svg("path", {
		d,
		class: `vote hue${hue % HUES} ${value ? NAMES[value] : "no"}`,
		fill: value === 1 ? `url(#hatch${hue % HUES})` : null,
	})
}

// The letters by which voters are known: initials, where they differ, else numbers.
export function letters(voters, blind) {
	const initials = voters.map(({name}) => [...name.trim()][0]?.toLocaleLowerCase() || "")
	return !blind && new Set(initials).size === initials.length
		? initials
		: voters.map((_, at) => String(at + 1))
}

export class VoteMatrix extends Matrix {
	constructor(root, name) {
		super(root)
		this.name = name
		const hues = Array.from({length: HUES + 1}, (_, at) => {
			const made = hatch(`hatch${at}`)
			made.querySelector(".ink").setAttribute("class", `ink hue${at}`)
			return made
		})
		this.grid.append(...hues)
	}

	// What is shown: by key the items, and the voters with their letters.
	show(items, voters, marks) {
		Object.assign(this, {items: new Map(items.map(one => [one.key, one])), voters, marks})
		this.linked = [new Set(), new Set()]
		for (const {key, state, value} of items) {
			const settled = state === AGREED || state === DECIDED
			if (key === JUDGED || (settled && !value)) continue
			for (const [x, at] of placeOf(key).entries()) this.linked[x].add(at)
		}
	}

	// A word whose links are not settled yet may have one.
	bare(side, at) {
		return !this.linked[side === "source" ? 0 : 1].has(at)
	}

	found(index) {
		const key = this.pair.cell(index).join()
		return key === JUDGED ? undefined : this.items.get(key)
	}

	draw(index) {
		const one = this.found(index)
		const [i, j] = this.pair.place(index)
		const here = this.here?.index === index ? this.here.element : null
		if (here) here.setAttribute("aria-label", this.name(index))
		if (!one || (one.state === AGREED && !one.value)) return this.drop(index)
		let cell = this.cells.get(index)
		if (!cell) {
			cell = svg("g", {
				role: "gridcell",
				"aria-colindex": j + 1,
				transform: `translate(${this.corners(i, j)})`,
				"data-i": i,
				"data-j": j,
			})
			this.cells.set(index, cell)
			this.join(i, cell, j)
		}
		set(cell, {
			class: `item ${one.state}`,
			"data-value": one.value,
			"aria-label": this.name(index),
			"aria-hidden": here && true,
		})
		cell.replaceChildren(...this.look(one))
	}

	look({state, value, votes, why}) {
		const {size} = this
		const made = shapes(size)
		const settled = state === AGREED || state === DECIDED
		if (settled) {
			const mark = value
				? svg("path", {
						d: made.box,
						class: `mark ${NAMES[value]}`,
						fill: value === 1 ? `url(#${state === AGREED ? `hatch${HUES}` : "hatch"})` : null,
					})
				: svg("path", {d: made.cross, class: "mark rejected"})
			return state === AGREED ? [mark] : [mark, ...this.letter(why)]
		}
		const edge = Math.max(2, Math.round(size * 0.12)) + 0.5
		const width = (size - 2 * edge) / votes.length
		const stripes = votes.map((held, at) =>
			vote(held, at, [edge + at * width, edge, edge + (at + 1) * width, size - edge]),
		)
		const lines = votes
			.slice(1)
			.map((_, at) => `M${edge + (at + 1) * width} ${edge}V${size - edge}`)
			.join("")
		return [
			...stripes,
			svg("path", {d: rounded(edge, edge, size - edge, size - edge, 3) + lines, class: "frame"}),
		]
	}

	letter(why) {
		const {size} = this
		const at = this.voters.findIndex(({id}) => id === why.as)
		let text = at < 0 ? "?" : this.marks[at]
		if (why.why === "own") text = "●"
		const wide = Math.min(13, size * 0.45)
		const x = size - wide + 1
		return [
			svg("rect", {x, y: x, width: wide, height: wide, rx: 3, class: "tag"}),
			svg(
				"text",
				{
					x: x + wide / 2,
					y: size - 1.5,
					"text-anchor": "middle",
					class: "letter",
					"aria-hidden": "true",
				},
				text,
			),
		]
	}

	place(place, focus, still) {
		super.place(place, focus, still)
		const {element, index} = this.here
		element.setAttribute("aria-label", this.name(index))
	}

	// Ring the cells of the decision that the cursor is in.
	ring(group) {
		const cells = group
			.filter(({key}) => key !== JUDGED)
			.map(({key}) => this.pair.spot(...placeOf(key)))
		set(this.box, {
			d: this.outlines(
				cells.map(([i, j]) => [i, i, j, j]),
				-1,
			),
			class: "box",
		})
	}

	update(touched) {
		super.update(touched)
		const keys = new Set(
			[this.pair, ...this.voters].flatMap(({comments}) => [...comments].map(([key]) => key)),
		)
		draw(
			this.notes,
			[...keys]
				.map(cellOf)
				.filter(Boolean)
				.map(cell => shapes(this.size).note(...this.corners(...this.pair.spot(...cell))))
				.join(""),
		)
	}
}

// What the marks mean, drawn as the matrix draws them.
export function legend(voters, marks) {
	const made = shapes(17)
	const box = [2.5, 2.5, 14.5, 14.5]
	const frame = (...parts) => svg("svg", {width: 17, height: 17, "aria-hidden": "true"}, ...parts)
	const stripe = at => [
		2.5 + (12 * at) / voters.length,
		2.5,
		2.5 + (12 * (at + 1)) / voters.length,
		14.5,
	]
	const names = voters.map(({name}) => name)
	const told =
		voters.length === 2
			? `left ${names[0]}, right ${names[1]}`
			: `from left to right: ${names.join(", ")}`
	const sure = svg("path", {d: made.box, class: "mark sure"})
	const tag = text => [
		svg("path", {d: made.box, class: "mark sure"}),
		svg("rect", {x: 8, y: 8, width: 9, height: 9, rx: 2, class: "tag"}),
		svg("text", {x: 12.5, y: 15.5, "text-anchor": "middle", class: "letter small"}, text),
	]
	return [
		[svg("g", {class: "item agreed"}, sure), "agreed, settled"],
		[
			svg(
				"g",
				{},
				...voters.map((_, at) => vote(2, at, stripe(at))),
				svg("path", {d: rounded(...box, 3), class: "frame"}),
			),
			told,
		],
		[
			svg(
				"g",
				{class: "item reopened"},
				vote(2, 0, box),
				svg("path", {d: rounded(...box, 3), class: "frame"}),
			),
			"a vote has changed since",
		],
		...voters.map(({name}, at) => [svg("g", {}, ...tag(marks[at])), `decided: as ${name}`]),
		[svg("g", {}, ...tag("●")), "decided: own"],
		[Object.assign(path("mark rejected")), "decided: no link", made.cross],
	].map(([mark, name, d]) => [frame(d ? set(mark, {d}) : mark), name])
}
