// The suggestions of a pair: what is open, what is doubtful, where a word most likely belongs.

// pair.hints: {set, cells: indices in reading order, p, strength and the systems that link it by
// index, shown}
export function hintsOf(pair, doc) {
	const cells = (doc?.cells ?? [])
		.map(([i, j, p, strength]) => [pair.at(i, j), p, strength || 2])
		.sort((a, b) => a[0] - b[0])
	const map = x => new Map(cells.map(cell => [cell[0], cell[x]]))
	const systems = new Map()
	for (const [name, links] of doc?.links ?? [])
		for (const cell of links)
			systems.set(pair.at(...cell), [...(systems.get(pair.at(...cell)) ?? []), name])
	return {
		systems,
		set: doc?.set,
		by: doc?.by ?? "",
		bulk: doc?.bulk ?? "",
		cells: cells.map(cell => cell[0]),
		p: map(1),
		strength: map(2),
		shown: true,
	}
}

// Neither taken nor rejected, and neither word is said to have no partner.
export function open(pair, index) {
	const {hints, values, rejected} = pair
	return (
		hints.shown &&
		!values[index] &&
		!rejected[index] &&
		hints.p.has(index) &&
		!pair.against(index).some(other => values[other])
	)
}

// Without a probability it counts as .9: worth taking, and worth looking at.
export const sure = ({hints}, index) => hints.p.get(index) ?? 0.9

// A cell to look at: an open suggestion, or a link taken in bulk below .97 that nobody has looked
// at.
export const doubtful = (pair, index) =>
	pair.values[index] ? pair.bulk[index] === 1 && sure(pair, index) < 0.97 : open(pair, index)

export const above = (pair, threshold) =>
	pair.hints.bulk
		? []
		: pair.hints.cells.filter(index => open(pair, index) && sure(pair, index) >= threshold)

// The next doubtful cell in reading order, round the end; undefined where there is none.
export function next(pair, index, step) {
	const found = pair.hints.cells.filter(cell => cell !== index && doubtful(pair, cell))
	if (step < 0) found.reverse()
	return found.find(cell => (cell - index) * step > 0) ?? found[0]
}

// The likeliest cell of a word without link: its best suggestion, else near where its neighbours
// point.
export function likeliest(pair, side, at) {
	const source = side === "source"
	const [list, length, size] = source ? [pair.rows, pair.n, pair.m] : [pair.columns, pair.m, pair.n]
	const own = pair.hints.cells.filter(
		index => pair.place(index)[source ? 0 : 1] === at && !pair.isNull(index) && open(pair, index),
	)
	if (own.length)
		return own.reduce((best, index) => (sure(pair, index) > sure(pair, best) ? index : best))
	let guess = Math.floor((at * size) / length)
	for (let x = length - 1; x > at; x--) if (list[3 * x + 2]) guess = list[3 * x] - (x - at)
	for (let x = 0; x < at; x++) if (list[3 * x + 2]) guess = list[3 * x + 1] + at - x
	guess = Math.max(0, Math.min(size - 1, guess))
	for (const off of [0, 1, -1, 2, -2, 3, -3]) {
		const x = guess + off
		if (x < 0 || x >= size || !pair.unaligned(source ? "target" : "source", x)) continue
		guess = x
		break
	}
	return source ? pair.at(at, guess) : pair.at(guess, at)
}
