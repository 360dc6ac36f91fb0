// What the word one is at can be linked to: the keys of its candidates, and what else ends a word.
import {opposite} from "./route.js"
import {percent} from "./words.js"

const LEAST = 0.05 // candidates from this likelihood on are listed
const FEWEST = 3 // and at least so many

/** @typedef {{sign: string, name: string, about: string, finger: string, current: boolean,
 *     act: () => void}} Choice `finger` is the text of a button for a finger; empty: none */

// Words that occur several times get the number of their occurrence: "the (2)".
function toldApart(words) {
	const seen = new Map()
	const numbers = words.map(word => {
		seen.set(word, (seen.get(word) ?? 0) + 1)
		return seen.get(word)
	})
	return words.map((word, at) => (seen.get(word) > 1 ? `${word} (${numbers[at]})` : word))
}

/** @returns {Choice[]} */
export function choicesOf(app) {
	const {at, route, pair, side, act} = app
	const names = toldApart(pair[opposite(side)])
	const shown = route.shown(at)
	const links = [...shown.keys()].filter(other => other < route.others)
	const choices = []
	const before = route.before(at)
	const keep = links.map(other => names[other]).join(", ")
	if (links.length > 1 || (links.length === 1 && !route.rated)) {
		choices.push({
			sign: "↵",
			name: keep,
			about: route.settled(at) ? "settled" : "as shown",
			finger: `✓ ${keep}`,
			current: true,
			act: () => act.accept(),
		})
	}
	const candidates = route.candidates(at)
	for (const [k, other] of candidates.entries()) {
		const q = route.q[at * route.others + other]
		if (k >= FEWEST && q < LEAST && !shown.has(other)) continue
		const current = links.length === 1 && shown.has(other)
		choices.push({
			sign: String(k + 1),
			name: names[other],
			about: shown.has(other) && route.settled(at) ? "linked" : percent(q),
			finger: (current ? "✓ " : "") + names[other],
			current,
			act: () => act.candidate(String(k + 1)),
		})
	}
	choices.push({
		sign: "0",
		name: "no link",
		about: "",
		finger: links.length ? "∅ none" : "✓ none",
		current: !links.length,
		act: () => act.reject(),
	})
	if (before) {
		const name = `as before: ${[...before.keys()].map(other => names[other]).join(", ")}`
		choices.push({
			sign: "e",
			name,
			about: "",
			finger: name,
			current: false,
			act: () => act.before(),
		})
	}
	const name = "another word, by letter"
	choices.push({
		sign: "i",
		name,
		about: "",
		finger: "",
		current: false,
		act: () => act.letters(),
	})
	return choices
}
