// @ts-check
// A text as words and signs, by line and sentence; places are counted in characters (code points),
// as the server counts.
import {abbreviated, starting} from "./sentences.js"

/** @import {Unit} from "./types" */

/** @type {(granularity: "word" | "sentence", language?: string) => Intl.Segmenter | null} */
const segmenter = (granularity, language) => {
	if (!globalThis.Intl?.Segmenter) return null
	try {
		return new Intl.Segmenter(language, {granularity})
	} catch {
		return new Intl.Segmenter(undefined, {granularity}) // no language that it knows
	}
}
const PLAIN = {
	word: /[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu,
	sentence: /[^.!?。！？؟۔।]+[.!?。！？؟۔।]*\s*/gu,
}

/**
 * The words or sentences of a line: where each begins, and its text.
 * @param {string} line
 * @param {"word" | "sentence"} granularity
 * @param {string} [language]
 * @returns {[number, string][]}
 */
function parts(line, granularity, language) {
	const cut = segmenter(granularity, language)
	if (cut) return Array.from(cut.segment(line), ({segment, index}) => [index, segment])
	return Array.from(line.matchAll(PLAIN[granularity]), match => [match.index, match[0]])
}

/**
 * The lines of a text: each a list of units.
 * @param {string} text
 * @param {string} [language]
 */
export function linesOf(text, language) {
	const known = abbreviated(text)
	let at = 0
	let sentence = 0
	return text.split("\n").map(line => {
		const starts = starting(
			line,
			parts(line, "sentence", language).map(([index]) => index),
			language,
			known,
		)
		/** @type {Unit[]} */
		const units = []
		let place = at
		let end = 0
		for (const [index, segment] of parts(line, "word", language)) {
			const word = segment.trim()
			const start = index + segment.indexOf(word)
			if (!word) continue
			const before = units.at(-1)
			if (before) before.text += line.slice(end, start)
			place += length(line.slice(end, start))
			while (starts.length && starts[0] <= start) {
				starts.shift()
				sentence++
			}
			end = start + word.length
			const from = place
			place += length(word)
			units.push({text: word, from, to: place, sentence})
		}
		if (starts.length) sentence++
		at += length(line) + 1
		return units
	})
}

/** @param {string} text */
const length = text => Array.from(text).length

/**
 * The units that characters begin to end are of, as [first, last].
 * @param {Unit[]} units
 * @param {number} begin
 * @param {number} end
 */
export function unitsIn(units, begin, end) {
	const first = units.findIndex(({to}) => to > begin)
	let last = first
	while (last + 1 < units.length && units[last + 1].from < end) last++
	return [first, last]
}

/**
 * The text of some units; where a line ends there is a space.
 * @param {Unit[]} units
 */
export function textOf(units) {
	let all = ""
	for (const [at, {text, to}] of units.entries()) {
		all += text
		const ends = units[at + 1]?.from > to // the next unit is on another line
		if (ends && !/\s$/.test(text)) all += " "
	}
	return all.trim()
}

/**
 * The characters of a text that units first to last hold.
 * @type {(units: Unit[], ends: [number, number]) => [number, number]}
 */
export const charactersOf = (units, [first, last]) => [units[first].from, units[last].to]

/**
 * The first and the last unit of a sentence.
 * @param {Unit[]} units
 * @param {number} at
 */
export function sentenceAt(units, at) {
	const {sentence} = units[at]
	let first = at
	let last = at
	while (units[first - 1]?.sentence === sentence) first--
	while (units[last + 1]?.sentence === sentence) last++
	return [first, last]
}
