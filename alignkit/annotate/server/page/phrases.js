// Phrase pairs of the links as they stand: boxes [top, bottom, left, right], ends included.

// The least box around `box` that no link leaves; null where it holds no link.
export function closure(pair, [top, bottom, left, right]) {
	const {rows, columns} = pair
	let a = top
	let b = top - 1
	let c = left
	let d = left - 1
	let empty = true // rows a to b, columns c to d are looked at
	while (a > top || b < bottom || c > left || d < right) {
		while (b < bottom || a > top) {
			const at = 3 * (b < bottom ? ++b : --a)
			if (!rows[at + 2]) continue
			empty = false
			if (rows[at] < left) left = rows[at]
			if (rows[at + 1] > right) right = rows[at + 1]
		}
		while (d < right || c > left) {
			const at = 3 * (d < right ? ++d : --c)
			if (!columns[at + 2]) continue
			empty = false
			if (columns[at] < top) top = columns[at]
			if (columns[at + 1] > bottom) bottom = columns[at + 1]
		}
	}
	return empty ? null : [top, bottom, left, right]
}

// The atomic pairs: the closures of the links of each source word.
export function atomic(pair) {
	const boxes = new Map()
	for (let i = 0; i < pair.n; i++) {
		if (!pair.rows[3 * i + 2]) continue
		const box = closure(pair, [i, i, pair.rows[3 * i], pair.rows[3 * i + 1]])
		boxes.set(box.join(), box)
	}
	return [...boxes.values()]
}

// The composite pairs, at most `limit`: tight, consistent, and no closure of a single link.
export function composite(pair, limit) {
	const {n, m, rows, columns} = pair
	const single = new Set(atomic(pair).map(String))
	const boxes = []
	for (let top = 0; top < n; top++) {
		if (!rows[3 * top + 2]) continue
		let left = m
		let right = -1
		let first = n
		let final = -1
		for (let bottom = top; bottom < n && first >= top; bottom++) {
			if (!rows[3 * bottom + 2]) continue
			const low = Math.min(left, rows[3 * bottom])
			const high = Math.max(right, rows[3 * bottom + 1])
			for (let j = low; j <= high; j++) {
				if ((j >= left && j <= right) || !columns[3 * j + 2]) continue
				first = Math.min(first, columns[3 * j])
				final = Math.max(final, columns[3 * j + 1])
			}
			;[left, right] = [low, high]
			const box = [top, bottom, left, right]
			if (first >= top && final <= bottom && !single.has(box.join()) && boxes.push(box) >= limit)
				return boxes
		}
	}
	return boxes
}

// The links that join a word in the box to one outside, at most `limit`, those of source words
// first.
export function blockers({rows, columns, values, wide}, [top, bottom, left, right], limit = 50) {
	const out = []
	for (let i = top; i <= bottom; i++) {
		for (
			let j = rows[3 * i + 2] ? rows[3 * i] : wide;
			j <= rows[3 * i + 1] && out.length < limit;
			j++
		) {
			if ((j < left || j > right) && values[i * wide + j]) out.push([i, j])
		}
	}
	for (let j = left; j <= right; j++) {
		if (!columns[3 * j + 2]) continue
		for (let i = columns[3 * j]; i <= columns[3 * j + 1] && out.length < limit; i++) {
			if ((i < top || i > bottom) && values[i * wide + j]) out.push([i, j])
		}
	}
	return out
}

// Links as rectangles of one strength, for the ribbons between the two lines: [top, bottom, left,
// right, value].
export function rectangles({n, m, rows, values, wide}) {
	const out = []
	let above = [] // by column: the rectangle that starts there and reaches the row before
	for (let i = 0; i < n; i++) {
		const here = []
		for (let j = rows[3 * i + 2] ? rows[3 * i] : m, end; j <= rows[3 * i + 1]; j = end + 1) {
			const value = values[i * wide + j]
			for (end = j; end + 1 < m && values[i * wide + end + 1] === value; ) end++
			if (!value) continue
			let box = above[j]
			if (box && box[3] === end && box[4] === value) {
				box[1] = i
			} else {
				box = [i, i, j, end, value]
				out.push(box)
			}
			here[j] = box
		}
		above = here
	}
	return out
}
