// @ts-check
// Phrase pairs of the links as they stand: boxes [top, bottom, left, right], ends included.

/** @import {Pair} from "./model.js" */
/** @import {Box, Cell, Rectangle} from "./types" */

/**
 * The least box around `box` that no link leaves; null where it holds no link.
 * @param {Pick<Pair, "rows" | "columns">} pair
 * @param {Box} box
 * @returns {Box | null}
 */
export function closure(pair, [top, bottom, left, right]) {
	const {rows, columns} = pair
	let empty = true
	// Widen the columns by the links of each row, and the rows by those of each column, until no row
	// and no column is left to look at: seen are those from the first to the last.
	let firstRow = top
	let lastRow = top - 1
	let firstColumn = left
	let lastColumn = left - 1
	while (firstRow > top || lastRow < bottom || firstColumn > left || lastColumn < right) {
		while (lastRow < bottom || firstRow > top) {
			const row = lastRow < bottom ? lastRow + 1 : firstRow - 1
			lastRow = Math.max(lastRow, row)
			firstRow = Math.min(firstRow, row)
			if (!rows[3 * row + 2]) continue
			empty = false
			left = Math.min(left, rows[3 * row])
			right = Math.max(right, rows[3 * row + 1])
		}
		while (lastColumn < right || firstColumn > left) {
			const column = lastColumn < right ? lastColumn + 1 : firstColumn - 1
			lastColumn = Math.max(lastColumn, column)
			firstColumn = Math.min(firstColumn, column)
			if (!columns[3 * column + 2]) continue
			empty = false
			top = Math.min(top, columns[3 * column])
			bottom = Math.max(bottom, columns[3 * column + 1])
		}
	}
	return empty ? null : [top, bottom, left, right]
}

/**
 * The atomic pairs: the closures of the links of each source word.
 * @param {Pick<Pair, "n" | "rows" | "columns">} pair
 */
export function atomic(pair) {
	/** @type {Map<string, Box>} */
	const boxes = new Map()
	for (let i = 0; i < pair.n; i++) {
		if (!pair.rows[3 * i + 2]) continue
		const box = closure(pair, [i, i, pair.rows[3 * i], pair.rows[3 * i + 1]])
		if (box) boxes.set(box.join(), box)
	}
	return [...boxes.values()]
}

/**
 * The composite pairs, at most `limit`: tight, consistent, and no closure of a single link.
 * @param {Pick<Pair, "n" | "m" | "rows" | "columns">} pair
 * @param {number} limit
 */
export function composite(pair, limit) {
	const {n, m, rows, columns} = pair
	const single = new Set(atomic(pair).map(String))
	/** @type {Box[]} */
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
			left = low
			right = high
			/** @type {Box} */
			const box = [top, bottom, left, right]
			if (first < top || final > bottom || single.has(box.join())) continue
			boxes.push(box)
			if (boxes.length >= limit) return boxes
		}
	}
	return boxes
}

/**
 * The links that join a word in the box to one outside, at most `limit`, those of source words
 * first.
 * @param {Pick<Pair, "rows" | "columns" | "values" | "wide">} pair
 * @param {Box} box
 * @param {number} [limit]
 */
export function blockers({rows, columns, values, wide}, [top, bottom, left, right], limit = 50) {
	/** @type {Cell[]} */
	const out = []
	for (let i = top; i <= bottom; i++) {
		if (!rows[3 * i + 2]) continue
		for (let j = rows[3 * i]; j <= rows[3 * i + 1] && out.length < limit; j++) {
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

/**
 * Links as rectangles of one strength, for the ribbons between the two lines.
 * @param {Pick<Pair, "n" | "m" | "rows" | "values" | "wide">} pair
 */
export function rectangles({n, m, rows, values, wide}) {
	/** @type {Rectangle[]} */
	const out = []
	/** @type {Rectangle[]} */
	let above = [] // by column: the rectangle that starts there and reaches the row before
	for (let i = 0; i < n; i++) {
		/** @type {Rectangle[]} */
		const here = []
		let j = rows[3 * i + 2] ? rows[3 * i] : m
		while (j <= rows[3 * i + 1]) {
			// the run of equal values from j to end
			const value = values[i * wide + j]
			let end = j
			while (end + 1 < m && values[i * wide + end + 1] === value) end++
			if (value) {
				let box = above[j]
				if (box && box[3] === end && box[4] === value) {
					box[1] = i
				} else {
					box = [i, i, j, end, value]
					out.push(box)
				}
				here[j] = box
			}
			j = end + 1
		}
		above = here
	}
	return out
}
