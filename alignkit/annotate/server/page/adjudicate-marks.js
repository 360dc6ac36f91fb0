// What is marked at the words of the band on the page of adjudicators: classes, and bars in the
// colours of voters.
import {AGREED, DECIDED, JUDGED, placeOf} from "./adjudicate-cases.js"
import {NAMES} from "./words.js"

const HUES = 4 // of voters; then they come again
const HIGH = 5 // pixels of a bar

const settled = ({state}) => state === AGREED || state === DECIDED
const isCell = ({key}) => key !== JUDGED

/**
 * The marks of the words of both sentences: [classes, bars], each for source and target.
 * @param {import("./model.js").Pair} pair
 * @param {import("./types").Place[]} items all places with votes
 * @param {object} about
 * @param {import("./types").Place[]} about.group the decision at the cursor
 * @param {[number, number] | null} about.word the word under the mouse, as [0 for source or 1 for
 *     target, place]
 * @param {[number, number] | null} about.cell the cell under the mouse
 */
export function voteMarks(pair, items, {group, word, cell}) {
	const kinds = [pair.source, pair.target].map(words => words.map(() => new Set()))
	const bars = kinds.map(words => words.map(() => ""))
	const add = (x, at, kind) => kinds[x][at]?.add(kind) // nothing at a null
	const here = group.filter(isCell).map(({key}) => placeOf(key))
	const chosen = word ? [word] : here.flatMap(place => [...place.entries()])
	const near = new Set(chosen.map(String))
	for (const item of items.filter(isCell)) {
		const place = placeOf(item.key)
		for (const [x, at] of place.entries()) {
			if (!settled(item)) add(x, at, "open")
			if (!near.has(String([1 - x, place[1 - x]])) || at < 0) continue
			if (!settled(item)) bars[x][at] = bar(item.votes)
			else if (item.value) add(x, at, NAMES[item.value])
		}
	}
	for (const place of here) for (const [x, at] of place.entries()) add(x, at, "here")
	for (const [x, at] of cell ? cell.entries() : []) add(x, at, "near")
	if (word) add(...word, "near")
	return [kinds.map(words => words.map(names => [...names].join(" "))), bars]
}

// A bar under a word with a part for each vote, as the stripes of its cell: a background.
function bar(votes) {
	const share = 100 / votes.length
	return votes
		.map((value, at) => {
			const left = votes.length > 1 ? (100 * at) / (votes.length - 1) : 0
			return `${part(value, at % HUES)} ${left}% 100% / ${share}% ${HIGH}px no-repeat`
		})
		.join(",")
}

// The colour of a voter where the vote is a sure link, in stripes where it is a possible one.
function part(value, hue) {
	const colour = `var(--hue${hue})`
	if (value === 2) return `linear-gradient(${colour},${colour})`
	const clear = value === 1 ? "transparent" : "var(--panel)"
	const line = value === 1 ? colour : "var(--panel)"
	return `repeating-linear-gradient(135deg,${line} 0 2px,${clear} 2px 4px)`
}
