// The pair as two lines with links between them; both follow the cursor.
import {draw, on, path, set, svg, widthOf} from "./dom.js"
import {rectangles} from "./phrases.js"
import {hatch, levelOf} from "./shapes.js"
import {open, sure} from "./suggest.js"
import {cut, slants} from "./words.js"

const SPACE = 20
const HIGH = 36
const LOW = 92
const MOST = 300
const SIDES = ["source", "target"]

export class Lines {
	constructor(root) {
		this.root = root
		this.svg = root.querySelector("svg")
		this.curves = ["ring r0", "ring r1", "ring r2", "ring r3", "possible", "sure", "blocked"].map(
			kind => path(`curve ${kind}`),
		)
		this.ribbons = [set(path("ribbon possible"), {fill: "url(#hatch-lines)"}), path("ribbon sure")]
		this.halo = path("halo")
		this.groups = SIDES.map(() => svg("g"))
		this.svg.append(
			hatch("hatch-lines"),
			this.halo,
			...this.ribbons,
			...this.curves,
			...this.groups,
		)
		on(
			root,
			"wheel",
			event => {
				if (!this.sides?.some(side => side.long)) return
				event.preventDefault()
				this.pan(-event.deltaX - event.deltaY)
			},
			{passive: false},
		)
	}

	load(pair, direction) {
		Object.assign(this, {pair, at: [0, 0], chosen: null, width: this.root.clientWidth})
		set(this.svg, {width: this.width, height: 128})
		this.sides = SIDES.map((name, x) =>
			this.lay(name, this.groups[x], x ? 111 : 26, direction[name] === "rtl"),
		)
	}

	// Lay the words of one line side by side.
	lay(name, group, y, rtl) {
		const font = `14px ${getComputedStyle(this.root).fontFamily}`
		const words = this.pair[name]
		const side = {name, group, rtl, words: []}
		let x = 0
		for (const at of rtl ? [...words.keys()].reverse() : words.keys()) {
			const shown = cut(words[at])
			const width = widthOf(shown, font)
			const text = svg(
				"text",
				{
					x: x + width / 2,
					y,
					"text-anchor": "middle",
					direction: rtl ? "rtl" : null,
					class: slants(shown) ? "slant" : "",
				},
				shown,
				svg("title", {}, words[at]),
			)
			side.words[at] = {
				x,
				width,
				middle: x + width / 2,
				text,
				dots: set(path("dots"), {d: `M${x} ${y + 7}h${width}`}),
			}
			x += width + SPACE
		}
		side.length = Math.max(0, x - SPACE)
		side.long = side.length > this.width - 32
		side.pill = svg("rect", {y: y - 20, height: 29, rx: 6})
		group.replaceChildren(side.pill, ...side.words.flatMap(({dots, text}) => [dots, text]))
		this.shift(side, rtl ? -1e6 : 20)
		return side
	}

	shift(side, by) {
		side.shift = Math.round(
			side.long
				? Math.max(this.width - 20 - side.length, Math.min(20, by))
				: (this.width - side.length) / 2,
		)
		set(side.group, {transform: `translate(${side.shift} 0)`})
	}

	// Bring the cursor's words into view and mark them; `still` leaves the lines where they are,
	// under the pointer.
	place(place, still) {
		this.at = place
		this.sides.forEach((side, x) => {
			const word = side.words[place[x]]
			side.on?.text.classList.remove("on")
			side.on = word
			set(
				side.pill,
				word
					? {
							x: word.x - 7,
							width: word.width + 14,
							class: this.chosen?.[0] === x ? "band chosen" : "band",
						}
					: {class: "off"},
			)
			word?.text.classList.add("on")
			if (word && !still && Math.abs(word.middle + side.shift - this.width / 2) > this.width * 0.3)
				this.shift(side, this.width / 2 - word.middle)
		})
	}

	pan(by) {
		for (const side of this.sides) this.shift(side, side.shift + by)
		this.draw([])
	}

	// All links and open suggestions, one path for each kind.
	draw(blockers) {
		const {pair, width} = this
		const paths = this.curves.map(() => [])
		const ribbons = [[], []]
		const index = pair.index(this.at)
		let curves = []
		const curve = (kind, at) => {
			const ends = this.#middles(...pair.place(at))
			if (Math.max(...ends) >= 0 && Math.min(...ends) <= width) curves.push([kind, at])
		}
		for (const [top, bottom, left, right, value] of rectangles(pair)) {
			const down = bottom - top
			const across = right - left
			if ((down && across) || down > 2 || across > 2)
				ribbons[value - 1].push(this.#ribbon([top, bottom], [left, right]))
			else for (const at of pair.inside([top, bottom, left, right])) curve(3 + value, at)
		}
		for (const at of pair.hints.cells)
			if (!pair.isNull(at) && open(pair, at)) curve(levelOf(sure(pair, at)), at)
		if (curves.length > MOST)
			curves = curves.filter(([, at]) => pair.place(at).some((x, side) => x === this.at[side]))
		for (const [kind, at] of curves) paths[kind].push(this.#curve(...pair.place(at)))
		for (const place of blockers) paths[6].push(this.#curve(...place))
		for (const [kind, parts] of paths.entries()) draw(this.curves[kind], parts.join(""))
		for (const [kind, parts] of ribbons.entries()) draw(this.ribbons[kind], parts.join(""))
		draw(
			this.halo,
			!pair.isNull(index) && (pair.values[index] || open(pair, index))
				? this.#curve(...this.at)
				: "",
		)
		for (const {name, words} of this.sides)
			words.forEach((word, at) => {
				const bare = pair.unaligned(name, at)
				if (bare === word.bare) return
				word.bare = bare
				for (const part of [word.text, word.dots]) part.classList.toggle("bare", bare)
			})
	}

	#middles(...place) {
		return this.sides.map(({words, shift}, x) => Math.round(words[place[x]].middle + shift))
	}

	#curve(i, j) {
		const [a, b] = this.#middles(i, j)
		return `M${a} ${HIGH}C${a} ${HIGH + 26} ${b} ${LOW - 26} ${b} ${LOW}`
	}

	#ribbon(...spans) {
		const [[a, b], [c, d]] = this.sides.map(({words, shift, rtl}, x) => {
			const [first, final] = (rtl ? spans[x].reverse() : spans[x]).map(at => words[at])
			return [first.x + shift, final.x + final.width + shift].map(Math.round)
		})
		const down = `M${a} ${HIGH}C${a} ${HIGH + 26} ${c} ${LOW - 26} ${c} ${LOW}`
		const up = `H${d}C${d} ${LOW - 26} ${b} ${HIGH + 26} ${b} ${HIGH}Z`
		return down + up
	}

	// The word under a point: [0 for source or 1 for target, place], or null.
	wordAt(clientX, clientY) {
		const box = this.svg.getBoundingClientRect()
		const y = clientY - box.top
		if (y >= 50 && y <= 80) return null // between the lines
		const side = y < 50 ? 0 : 1
		const {words, shift} = this.sides[side]
		const x = clientX - box.left - shift + SPACE / 2
		const at = words.findIndex(word => x >= word.x && x < word.x + word.width + SPACE)
		return at < 0 ? null : [side, at]
	}
}
