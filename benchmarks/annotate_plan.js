// Plan the keys that turn what the page shows into the gold, as a user who knows the keys would
// press them: run in the page, with the page's own modules. With `arrows`, only plain arrows move.
// Greedy, by several measures of what is near; the plan with the fewest moves is taken.
;async ({doc, gold, arrows, acceptAll}) => {
	const [{Pair}, {above, doubtful, next, open: isOpen}, {move}, {closure}] = await Promise.all(
		["model", "suggest", "moves", "phrases"].map(name => import(`/page/${name}.js`)),
	)
	const plans = []
	for (const lookout of [0, 0.3, 0.6])
		for (const apiece of [1, 0.5]) plans.push(plan(lookout, apiece))
	return (
		plans.filter(one => one.changes <= one.differ).sort((a, b) => a.moves - b.moves)[0] ?? plans[0]
	)

	function plan(lookout, apiece) {
		const pair = new Pair(doc)
		const rtl = doc.direction?.target === "rtl"
		const goal = new Map(gold.map(([i, j, value]) => [pair.at(i, j), value]))
		const wanted = index => goal.get(index) ?? 0
		const at = ([i, j]) => i * pair.wide + j
		const place = index => [Math.floor(index / pair.wide), index % pair.wide]
		const keys = []
		let cursor = 0

		const look = () => {
			pair.bulk[cursor] = 0
		}
		const edit = (cells, value, bulk = false) => {
			const data = pair.edit(
				"cell",
				cells.map(index => [index, value]),
				bulk,
			)
			if (data) pair.apply({kind: "edit", data})
		}
		const MOVES = {ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down"}
		const FAST = {
			"Control+ArrowLeft": "far-left",
			"Control+ArrowRight": "far-right",
			"Control+ArrowUp": "far-up",
			"Control+ArrowDown": "far-down",
			j: "doubtful",
			k: "doubtful-back",
			w: "source",
			t: "target",
			W: "source-back",
			T: "target-back",
		}
		const ways = Object.entries(arrows ? MOVES : {...MOVES, ...FAST})

		// The shortest ways from `from`: by place, [steps, previous place, key].
		const search = from => {
			const known = new Map([[from, [0, -1, ""]]])
			const queue = [from]
			for (let head = 0; head < queue.length; head++) {
				const here = queue[head]
				for (const [key, name] of ways) {
					const to = move(pair, place(here), name, rtl)
					if (!to || known.has(at(to))) continue
					known.set(at(to), [known.get(here)[0] + 1, here, key])
					queue.push(at(to))
				}
			}
			return known
		}

		const different = () => {
			const cells = []
			for (let index = 0; index < pair.values.length; index++) {
				if (pair.values[index] !== wanted(index)) cells.push(index)
			}
			return cells
		}

		// Boxes whose cells all have one value in the end: {from, select: keys, cells, value}.
		const boxes = cells => {
			const out = cells.map(index => ({
				from: index,
				select: [],
				cells: [index],
				value: wanted(index),
			}))
			const inside = cells.filter(index => !pair.isNull(index))
			for (const a of inside) {
				for (const b of inside) {
					if (a === b || wanted(a) !== wanted(b)) continue
					const box = within(a, b)
					if (!box.every(index => wanted(index) === wanted(a))) continue
					out.push({from: a, select: arrowKeys(a, b), cells: box, value: wanted(a)})
				}
				const grown = arrows ? null : closure(pair, [...place(a).flatMap(x => [x, x])])
				if (!grown || !wanted(a)) continue
				const box = within(at([grown[0], grown[2]]), at([grown[1], grown[3]]))
				if (box.length > 1 && box.every(index => wanted(index) === wanted(a))) {
					out.push({from: a, select: ["b"], cells: box, value: wanted(a)})
				}
			}
			return out
		}
		const within = (a, b) => {
			const [[i, j], [k, l]] = [place(a), place(b)]
			const out = []
			for (let r = Math.min(i, k); r <= Math.max(i, k); r++) {
				for (let c = Math.min(j, l); c <= Math.max(j, l); c++) out.push(at([r, c]))
			}
			return out
		}
		const arrowKeys = (a, b) => {
			const [[i, j], [k, l]] = [place(a), place(b)]
			const across = rtl ? j - l : l - j
			return [
				...Array(Math.abs(k - i)).fill(k > i ? "Shift+ArrowDown" : "Shift+ArrowUp"),
				...Array(Math.abs(across)).fill(across > 0 ? "Shift+ArrowRight" : "Shift+ArrowLeft"),
			]
		}

		const go = (index, known) => {
			const path = []
			for (let here = index; known.get(here)[1] >= 0; here = known.get(here)[1])
				path.unshift(known.get(here)[2])
			for (const key of path) {
				const to = move(pair, place(cursor), ways.find(([name]) => name === key)[1], rtl)
				keys.push({key, change: false})
				cursor = to ? at(to) : cursor
				look()
			}
			return cursor === index
		}

		if (pair.hints.cells.length) cursor = pair.hints.cells.find(index => doubtful(pair, index)) ?? 0
		look()
		if (acceptAll) {
			const open = above(pair, 0.9)
			if (open.length) {
				keys.push({key: "A", change: false})
				for (const strength of [1, 2])
					edit(
						open.filter(index => pair.hints.strength.get(index) === strength),
						strength,
						true,
					)
			}
			look()
		}
		const differ = different().length
		let changes = 0
		for (let guard = 0; guard < 2000; guard++) {
			const cells = different()
			if (!cells.length) break
			const known = search(cursor)
			const open = new Set(cells)
			let best = null
			for (const option of boxes(cells)) {
				const fixed = option.cells.filter(index => open.has(index)).length
				const far = known.get(option.from)?.[0] ?? 999
				const last = option.select.length ? option.cells : [option.from]
				// what is near the end of it counts a little: go where more is to be done
				const near = Math.min(
					9,
					...cells.filter(index => !last.includes(index)).map(index => distance(index, last[0])),
				)
				const cost = (far + option.select.length + 1 + lookout * near) / fixed ** apiece
				if (!best || cost < best.cost) best = {...option, cost}
			}
			if (!go(best.from, known)) continue // a cell that was looked at is no longer on the way
			for (const key of best.select) keys.push({key, change: false})
			const single = best.cells.length === 1
			const index = best.from
			const suggested = single && !arrows && isOpen(pair, index)
			let jump = ""
			if (suggested && best.value === pair.hints.strength.get(index)) jump = "Enter"
			else if (!arrows && single && !best.value) jump = "Backspace"
			edit(best.cells, best.value)
			changes++
			if (best.select.length && best.select[0] !== "b") cursor = opposite(best)
			const on = jump && next(pair, cursor, 1)
			const rest = different()
			const least = ways => Math.min(99, ...rest.map(cell => ways.get(cell)?.[0] ?? 99))
			const stay = jump && on !== undefined ? least(search(cursor)) : 0
			const onward = jump && on !== undefined ? least(search(on)) : 99
			if (jump && on !== undefined && onward <= stay) {
				keys.push({key: jump, change: true})
				cursor = on
			} else keys.push({key: ["x", "d", "s"][best.value], change: true})
			look()
		}
		function opposite({from, cells}) {
			const [first, end] = [cells[0], cells[cells.length - 1]].map(place)
			const [i, j] = place(from)
			return at([first[0] + end[0] - i, first[1] + end[1] - j])
		}
		function distance(a, b) {
			const [i, j] = place(a)
			const [k, l] = place(b)
			return Math.abs(i - k) + Math.abs(j - l)
		}
		return {
			keys,
			changes,
			differ,
			moves: keys.filter(press => !press.change).length,
			left: different().length,
			cursor: place(cursor),
		}
	}
}
