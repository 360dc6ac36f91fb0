// @ts-check
// The keyboard route through a pair: which words are to be looked at, what each of them shows, and
// what a key stores. The words of one side are settled one after the other; after each, the
// likelihoods of all links of the others are computed anew. Nothing is drawn here: a benchmark runs
// this module too. tests/reference_route.py says the same in plain Python.
import {SURE} from "./model.js"

/** @import {Pair} from "./model.js" */
/** @import {EventData, Value} from "./types" */
/** @typedef {"source" | "target"} Side */

const LEAST_P = 0.001 // of a cell without suggestion
const MOST_P = 0.9995
const UNRATED = 0.9 // of a suggestion without probability
const DIGITS = 9
const LETTERS = "abcdefghijklmnopqrstuvwxyz"

// How much each fact about a cell adds to the log-odds of a link there. The values were fitted on
// XL-WA and monolingual corpora; they serve both sides.
const START = -0.1
const SUGGESTED = 0.6 // times the log-odds of the suggestion
const TAKEN = -2.4 // the other word is linked elsewhere, but not with a neighbour
const DIAGONAL = 0.5 // continues a link of a neighbour
const BACKWARD = 0.6 // continues it the other way round
const RIVAL_WORD = -0.12 // times the log-odds of the best rival for the other word
const RIVAL_PARTNER = -0.16 // times the log-odds of the word's best other partner
const DISTANCE = -0.5 // times the logarithm of 1 and the distance from where neighbours point

/** @type {(p: number) => number} */
const logit = p => Math.log(p / (1 - p))

/** @type {(side: Side) => Side} */
export const opposite = side => (side === "source" ? "target" : "source")

/**
 * The cell that marks a word as settled: the one in which its explicit null stands.
 * @param {Pair} pair
 * @param {Side} side
 * @param {number} at
 */
export function markAt(pair, side, at) {
	return side === "source" ? pair.at(at, -1) : pair.at(-1, at)
}

/**
 * The side to stop at: the one whose words are being settled; before that the one with fewer stops.
 * @param {Pair} pair
 * @param {number} least
 * @returns {Side}
 */
export function sideOf(pair, least) {
	const marks = {source: 0, target: 0}
	for (const side of /** @type {const} */ (["source", "target"])) {
		for (let at = 0; at < pair[side].length; at++) {
			marks[side] += pair.settled[markAt(pair, side, at)]
		}
	}
	if (marks.source || marks.target) return marks.target > marks.source ? "target" : "source"
	const [source, target] = [new Route(pair, "source", least), new Route(pair, "target", least)]
	return target.stops().length < source.stops().length ? "target" : "source"
}

export class Route {
	/**
	 * @param {Pair} pair
	 * @param {Side} side whose words are the stops
	 * @param {number} least the doubt from which on a word is a stop; 0: each word is
	 */
	constructor(pair, side, least) {
		this.pair = pair
		this.side = side
		this.least = least
		this.count = pair[side].length
		this.others = pair[opposite(side)].length
		this.rated = pair.hints.shown && pair.hints.cells.length > 0
		const size = this.count * this.others
		this.fixed = new Float64Array(size) // the part of the log-odds that never changes
		this.odds = new Float64Array(size) // of the suggestions
		this.q = new Float64Array(size)
		this.doubt = new Float64Array(this.count)
		/** @type {number[]} */
		this.expected = [] // where the partner of each word should be, by its linked neighbours
		this.#readSuggestions()
		this.update(pair)
	}

	/**
	 * The index of a cell, by the word and the number of a word of the other side; the number after
	 * the last is the null.
	 * @param {number} at
	 * @param {number} other
	 */
	index(at, other) {
		return this.side === "source" ? this.pair.index([at, other]) : this.pair.index([other, at])
	}

	/**
	 * The word and the other word of a place in the matrix.
	 * @param {[number, number]} place
	 * @returns {[number, number]}
	 */
	words([row, column]) {
		return this.side === "source" ? [row, column] : [column, row]
	}

	/** @param {number} at */
	settled(at) {
		const {pair, side} = this
		if (pair.done || pair.settled[markAt(pair, side, at)]) return true
		return !pair.unaligned(side, at)
	}

	/**
	 * May a likely link be shown in this cell of a word that is not settled? Not where it was
	 * rejected, or the other word is settled.
	 * @param {number} at
	 * @param {number} other
	 */
	#free(at, other) {
		const {pair} = this
		if (pair.rejected[this.index(at, other)]) return false
		return !pair.settled[markAt(pair, opposite(this.side), other)]
	}

	#readSuggestions() {
		const {count, others, fixed, odds, pair} = this
		odds.fill(logit(LEAST_P))
		if (this.rated) {
			for (const index of pair.hints.cells) {
				if (pair.isNull(index)) continue
				const [at, other] = this.words(pair.place(index))
				const p = pair.hints.p.get(index) ?? UNRATED
				odds[at * others + other] = logit(Math.min(MOST_P, Math.max(LEAST_P, p)))
			}
		}
		for (let at = 0; at < count; at++) {
			const [best, second] = twoBest(others, other => odds[at * others + other])
			for (let other = 0; other < others; other++) {
				const cell = at * others + other
				const rival = odds[cell] === best ? second : best
				fixed[cell] = START + SUGGESTED * odds[cell] + RIVAL_PARTNER * rival
			}
		}
	}

	/**
	 * Compute all likelihoods and doubts anew, as the pair is now. The links of the word itself count
	 * for nothing, so that its candidates keep their order while one is at it.
	 * @param {Pair} pair
	 */
	update(pair) {
		this.pair = pair
		const {count, others, fixed, odds, q} = this
		const settled = Array.from({length: count}, (_, at) => this.settled(at))
		const waiting = [...settled.keys()].filter(at => !settled[at])
		const counts = this.side === "source" ? pair.columns : pair.rows // first, last, number
		const best = Array.from({length: others}, (_, other) =>
			twoBest(waiting.length, k => odds[waiting[k] * others + other]),
		)
		const linked = (/** @type {number} */ at, /** @type {number} */ other) =>
			at >= 0 && at < count && other >= 0 && other < others && pair.values[this.index(at, other)]
				? 1
				: 0
		this.expected = this.#whereNeighboursPoint()
		for (let at = 0; at < count; at++) {
			for (let other = 0; other < others; other++) {
				const cell = at * others + other
				const [first, second] = best[other]
				const rival = !settled[at] && odds[cell] === first ? second : first
				const elsewhere = counts[3 * other + 2] - linked(at, other)
				const beside = linked(at - 1, other) || linked(at + 1, other)
				const diagonal = linked(at - 1, other - 1) || linked(at + 1, other + 1)
				const backward = linked(at - 1, other + 1) || linked(at + 1, other - 1)
				const sum =
					fixed[cell] +
					(elsewhere && !beside ? TAKEN : 0) +
					DIAGONAL * diagonal +
					BACKWARD * backward +
					RIVAL_WORD * rival +
					DISTANCE * Math.log1p(Math.abs(other - this.expected[at]))
				q[cell] = 1 / (1 + Math.exp(-sum))
			}
			this.doubt[at] = settled[at] ? 0 : this.#doubtOf(at)
		}
	}

	// How likely it is that a word does not have just the links that it shows.
	/** @type {(at: number) => number} */
	#doubtOf(at) {
		const {others, q} = this
		let right = 1
		for (let other = 0; other < others; other++) {
			if (!this.#free(at, other)) continue
			const likely = q[at * others + other]
			right *= Math.max(likely, 1 - likely)
		}
		return 1 - right
	}

	// Where the nearest linked word of the side points, for each word: on from its last partner, or
	// back from its first. Without any, along the diagonal.
	#whereNeighboursPoint() {
		const {count, others, pair, side} = this
		const extents = side === "source" ? pair.rows : pair.columns
		const linked = Array.from({length: count}, (_, at) => at).filter(at => extents[3 * at + 2])
		let next = 0 // among the linked: the first that is not before the word
		return Array.from({length: count}, (_, at) => {
			while (next < linked.length && linked[next] < at) next++
			const before = linked[next - 1]
			const after = linked[next] === at ? linked[next + 1] : linked[next]
			if (before === undefined && after === undefined) return (at * others) / count
			const forward = before !== undefined && !(after - at < at - before)
			return forward ? extents[3 * before + 1] + at - before : extents[3 * after] + at - after
		})
	}

	/**
	 * Is a word to be looked at?
	 * @param {number} at
	 */
	isStop(at) {
		if (this.settled(at)) return false
		return !this.rated || this.doubt[at] >= this.least
	}

	stops() {
		return Array.from({length: this.count}, (_, at) => at).filter(at => this.isStop(at))
	}

	/**
	 * The next stop in reading order, round the end; undefined where there is no other.
	 * @param {number} at
	 * @param {number} [step] 1 forward, -1 back
	 * @returns {number | undefined}
	 */
	next(at, step = 1) {
		const stops = this.stops().filter(stop => stop !== at)
		if (step < 0) stops.reverse()
		return stops.find(stop => (stop - at) * step > 0) ?? stops[0]
	}

	/**
	 * What a word shows, by the number of the other word: its links, or the likely ones if it is not
	 * settled; a null too.
	 * @param {number} at
	 * @returns {Map<number, Value>}
	 */
	shown(at) {
		const {others, pair, q} = this
		/** @type {Map<number, Value>} */
		const links = new Map()
		if (this.settled(at)) {
			for (let other = 0; other <= others; other++) {
				const value = pair.values[this.index(at, other)]
				if (value) links.set(other, value)
			}
			return links
		}
		if (!this.rated) return links
		for (let other = 0; other < others; other++) {
			if (q[at * others + other] >= 0.5 && this.#free(at, other)) {
				links.set(other, this.strength(at, other))
			}
		}
		return links.size ? links : this.none(at)
	}

	/**
	 * The links of a word without partner: none, or an explicit null where one is suggested.
	 * @param {number} at
	 * @returns {Map<number, Value>}
	 */
	none(at) {
		const {others, pair} = this
		const index = this.index(at, others)
		if (!pair.hints.shown || !pair.hints.p.has(index)) return new Map()
		return new Map([[others, this.strength(at, others)]])
	}

	/**
	 * The value of a link that is taken: as it is suggested, else sure.
	 * @param {number} at
	 * @param {number} other
	 */
	strength(at, other) {
		const index = this.index(at, other)
		return this.pair.values[index] || (this.pair.hints.strength.get(index) ?? SURE)
	}

	/**
	 * The likeliest partners of a word, the digits 1 to 9 in turn.
	 * @param {number} at
	 */
	candidates(at) {
		if (!this.rated) return []
		const row = this.q.subarray(at * this.others, (at + 1) * this.others)
		return [...row.keys()].sort((a, b) => row[b] - row[a] || a - b).slice(0, DIGITS)
	}

	/**
	 * The other word whose cell a key of cells acts on first: the likeliest partner, else the first
	 * one, else the nearest to where neighbours point.
	 * @param {number} at
	 */
	home(at) {
		const [likeliest] = this.candidates(at)
		const [first] = this.shown(at).keys()
		const near = Math.max(0, Math.min(this.others - 1, Math.round(this.expected[at])))
		return likeliest ?? first ?? near
	}

	/**
	 * The links of the word before, for this word; null where it has none.
	 * @param {number} at
	 * @returns {Map<number, Value> | null}
	 */
	before(at) {
		if (at === 0) return null
		const links = [...this.shown(at - 1)].filter(([other]) => other < this.others)
		return links.length ? new Map(links) : null
	}

	/**
	 * The keys that name the words of the other side, or with `own` those of this side.
	 * @param {number} at
	 * @param {boolean} own
	 */
	letters(at, own) {
		if (own) return letters(this.count, at)
		return letters(this.others, this.home(at))
	}

	/**
	 * What an event stores that gives a word these links, and marks it as settled; null where both is
	 * so already.
	 * @param {number} at
	 * @param {Map<number, Value>} links
	 * @returns {EventData | null}
	 */
	settle(at, links) {
		return this.#settleAll(new Map([[at, links]]), [])
	}

	/**
	 * What an event stores that gives cells a value: each of their words keeps what else it shows, and
	 * is settled.
	 * @param {number[]} cells indices
	 * @param {(index: number) => Value} wantedOf
	 * @returns {EventData | null}
	 */
	put(cells, wantedOf) {
		const {count, others, pair} = this
		/** @type {Map<number, Map<number, Value>>} */
		const words = new Map()
		/** @type {[number, Value][]} */
		const rest = [] // nulls of words of the other side
		for (const index of cells) {
			const [at, other] = this.words(pair.place(index))
			const value = wantedOf(index)
			if (at === count) {
				rest.push([index, value])
				continue
			}
			const links = words.get(at) ?? this.shown(at)
			words.set(at, links)
			if (!value) links.delete(other)
			else if (other === others) words.set(at, new Map([[other, value]]))
			else {
				links.delete(others)
				links.set(other, value)
			}
		}
		return this.#settleAll(words, rest)
	}

	/** @type {(words: Map<number, Map<number, Value>>, rest: [number, Value][]) => EventData | null} */
	#settleAll(words, rest) {
		const {others, pair, side} = this
		const wanted = [...rest]
		for (const [at, links] of words) {
			for (let other = 0; other <= others; other++) {
				const index = this.index(at, other)
				const value = links.get(other) ?? 0
				if (pair.values[index] !== value || pair.bulk[index]) wanted.push([index, value])
			}
		}
		const settled = [...words.keys()].map(at => markAt(pair, side, at))
		return pair.edit(words.size ? "word" : "cell", wanted, {settled})
	}

	/**
	 * What words that nobody looked at show: the value of each cell by its index.
	 * @returns {Map<number, Value>}
	 */
	unseen() {
		/** @type {Map<number, Value>} */
		const kept = new Map()
		for (let at = 0; at < this.count; at++) {
			if (this.settled(at)) continue
			for (const [other, value] of this.shown(at)) kept.set(this.index(at, other), value)
		}
		return kept
	}

	/**
	 * How likely a link in a cell is, by its index; nothing at a null.
	 * @param {number} index
	 */
	likelihood(index) {
		const [at, other] = this.words(this.pair.place(index))
		return at < this.count && other < this.others ? this.q[at * this.others + other] : undefined
	}

	/**
	 * How many of the stops are probably right as they are shown.
	 */
	right() {
		return Math.round(this.stops().reduce((sum, at) => sum + 1 - this.doubt[at], 0))
	}
}

/**
 * The greatest two of so many numbers; the least log-odds where there are fewer.
 * @param {number} count
 * @param {(at: number) => number} of
 * @returns {[number, number]}
 */
function twoBest(count, of) {
	let first = logit(LEAST_P)
	let second = first
	for (let at = 0; at < count; at++) {
		const value = of(at)
		if (value > first) {
			second = first
			first = value
		} else if (value > second) second = value
	}
	return [first, second]
}

/**
 * The keys that name each of so many words. Up to 26 words have one letter each. Beyond, the words
 * nearest to `middle` have one letter; of the others each 26 share a first letter, from the end of
 * the alphabet, and have their own after it, so that no code begins another.
 * @param {number} count
 * @param {number} middle
 * @returns {string[]}
 */
export function letters(count, middle) {
	const all = LETTERS.length
	let groups = 0
	while (all - groups + all * groups < count && groups < all) groups += 2
	const single = Math.min(count, all - groups)
	const start = Math.max(0, Math.min(count - single, middle - Math.floor(single / 2)))
	return Array.from({length: count}, (_, at) => {
		if (at >= start && at < start + single) return LETTERS[at - start]
		const further = at < start ? at : at - single
		const group = LETTERS[all - groups + Math.floor(further / all)]
		return group === undefined ? "" : group + LETTERS[further % all]
	})
}
