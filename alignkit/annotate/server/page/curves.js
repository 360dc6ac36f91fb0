// Curves between the words of the band: links, and those that words show which are not settled.
import {draw, path, set} from "./dom.js"
import {rectangles} from "./phrases.js"
import {hatch} from "./shapes.js"

const HIGH = 44 // as band.css has it
const BEND = 22
const KINDS = ["likely", "possible", "sure", "blocked"]
const BLOCKED = 3

export class Curves {
	constructor(root) {
		this.paths = KINDS.map(kind => path(`curve ${kind}`))
		this.ribbons = [set(path("ribbon possible"), {fill: "url(#hatch-curves)"}), path("ribbon sure")]
		this.halo = path("halo")
		root.append(hatch("hatch-curves"), this.halo, ...this.ribbons, ...this.paths)
	}

	// `places` has the boxes of all words, null where there is no room for curves. Where one side
	// alone runs from right to left, all curves together would be a knot: `knot`.
	load(places, knot) {
		this.knot = knot
		this.spans = places?.map(words => words.map(([{left, right}]) => [left, right].map(Math.round)))
	}

	// Draw the links of a pair, and those that are `shown`; `words` are the one that one is at and that
	// under the mouse, as [side, place], and `blockers` the cells that keep a box from being a phrase
	// pair. The curve of the `cursor` is stressed; null: none.
	draw(pair, cursor, words, blockers, shown) {
		if (!this.spans) return
		const paths = KINDS.map(() => [])
		const ribbons = [[], []]
		const close = place => words.some(([x, at]) => place[x] === at)
		for (const [top, bottom, left, right, value] of rectangles(pair)) {
			const block = bottom > top && right > left
			if (block && !this.knot) ribbons[value - 1].push(this.#ribbon([top, bottom], [left, right]))
			else {
				for (const index of pair.inside([top, bottom, left, right])) {
					const place = pair.place(index)
					if (!this.knot || close(place)) paths[value].push(this.#curve(place))
				}
			}
		}
		for (const index of shown.keys()) {
			const place = pair.place(index)
			if (!pair.isNull(index) && (close(place) || !this.knot)) paths[0].push(this.#curve(place))
		}
		for (const place of blockers) paths[BLOCKED].push(this.#curve(place))
		for (const [kind, parts] of paths.entries()) draw(this.paths[kind], parts.join(""))
		for (const [kind, parts] of ribbons.entries()) draw(this.ribbons[kind], parts.join(""))
		const index = cursor ? pair.index(cursor) : -1
		const drawn = cursor && !pair.isNull(index) && (pair.values[index] || shown.has(index))
		draw(this.halo, drawn ? this.#curve(cursor) : "")
	}

	#curve(place) {
		const [a, b] = this.spans.map((words, x) => {
			const [left, right] = words[place[x]]
			return Math.round((left + right) / 2)
		})
		return `M${a} 0C${a} ${BEND} ${b} ${HIGH - BEND} ${b} ${HIGH}`
	}

	#ribbon(...boxes) {
		const [[a, b], [c, d]] = this.spans.map((words, x) => {
			const ends = boxes[x].flatMap(at => words[at])
			return [Math.min(...ends), Math.max(...ends)]
		})
		const down = `M${a} 0C${a} ${BEND} ${c} ${HIGH - BEND} ${c} ${HIGH}`
		const up = `H${d}C${d} ${HIGH - BEND} ${b} ${BEND} ${b} 0Z`
		return down + up
	}
}
