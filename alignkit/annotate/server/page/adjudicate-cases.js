// The votes on a pair, compared with each other and with gold. The server decides by the same rules
// in annotate/adjudication/comparison.py.
import {last, Pair} from "./model.js"
import {atomic} from "./phrases.js"

export const AGREED = "agreed",
	OPEN = "open",
	DECIDED = "decided",
	REOPENED = "reopened",
	JUDGED = "-1,-1"
const same = (a, b) => String(a) === String(b) // values are numbers, or a label and flags
const NULL = -1
export const placeOf = key => key.split(",").map(Number)
const judgmentOf = ({judgment, flags}) => (judgment || flags.length ? [judgment, ...flags] : [])

// A pair with the reasons of what is decided in it, by "i,j".
export class GoldPair extends Pair {
	constructor(doc) {
		super(doc)
		this.whys = new Map((doc.state.whys || []).map(([i, j, why]) => [`${i},${j}`, why]))
	}

	copy() {
		const copy = super.copy()
		copy.whys = new Map(this.whys)
		return copy
	}

	apply(event) {
		for (const [i, j, , why] of event.data.whys || []) {
			if (why === null) this.whys.delete(`${i},${j}`)
			else this.whys.set(`${i},${j}`, why)
		}
		return super.apply(event)
	}

	inverse(kind) {
		const back = super.inverse(kind)
		const whys = last(this[kind])?.data.whys
		return back && whys
			? {...back, whys: whys.map(([i, j, before, after]) => [i, j, after, before])}
			: back
	}

	value(key) {
		return key === JUDGED ? judgmentOf(this) : this.values[this.at(...placeOf(key))]
	}
}

// What the annotators said, by key.
export const ballots = votes =>
	votes.map(vote => {
		const values = new Map(vote.cells.map(([i, j, value]) => [`${i},${j}`, value]))
		const how = new Map(vote.cells.map(([i, j, , ...told]) => [`${i},${j}`, told]))
		return {
			...vote,
			values,
			how,
			at: key => (key === JUDGED ? judgmentOf(vote) : values.get(key) || 0),
		}
	})

const order = key => placeOf(key).map(x => (x === NULL ? 1e9 : x))
const asRead = (a, b) => order(a.key)[0] - order(b.key)[0] || order(a.key)[1] - order(b.key)[1]

const sharedBy = (votes, majority) =>
	votes.find(vote => {
		const count = votes.filter(other => same(other, vote)).length
		return count === votes.length || (majority && 2 * count > votes.length)
	})

// What all agree on, and gold does not have: it changed after the pair was done.
export const missing = (pair, all) =>
	all.filter(({state, key, value}) => state === AGREED && !same(value, pair.value(key)))

// A place with the votes on it: what gold has, why, and whether somebody has to decide.
export function item(pair, voters, key, majority) {
	const votes = voters.map(voter => voter.at(key))
	const why = pair.whys.has(key) ? JSON.parse(pair.whys.get(key)) : null
	const held = pair.value(key)
	const made = {key, votes, why, value: held}
	if (why) {
		const then = new Map(Object.entries(why.votes || {}).map(([id, [value]]) => [id, value]))
		const odd = !then.size || !same(meant(why, then, held), held)
		if (odd || voters.some(({id}, at) => !same(votes[at], then.get(id) ?? held)))
			return {...made, odd, state: REOPENED}
		return {...made, odd, state: why.why === AGREED ? AGREED : DECIDED}
	}
	const shared = sharedBy(votes, majority)
	const stands = String(held || "") && !same(held, shared)
	if (shared === undefined || stands || clashes(pair, key, shared)) return {...made, state: OPEN}
	return {...made, state: AGREED, value: shared}
}

// The value that a decision gave its place, by its reason and the votes of that time.
function meant(why, then, held) {
	if (why.why === "own") return held
	if (why.why === "vote") return then.get(why.as)
	return sharedBy([...then.values()], true)
}

// Can a value not stand beside gold? A word has partners, or none.
function clashes(pair, key, value) {
	return (
		key !== JUDGED &&
		!!value &&
		pair.against(pair.at(...placeOf(key))).some(index => pair.values[index])
	)
}

// All places that somebody voted on, or that were decided.
export function items(pair, voters, majority) {
	const keys = new Set(pair.whys.keys())
	for (const {values} of voters) for (const key of values.keys()) keys.add(key)
	for (const [index, value] of pair.values.entries()) if (value) keys.add(pair.cell(index).join())
	if ([pair, ...voters].some(said => judgmentOf(said).length)) keys.add(JUDGED)
	return [...keys].map(key => item(pair, voters, key, majority)).sort(asRead)
}

// Neighbours with equal votes, of one state, value and reason, are one decision.
export function grouped(all) {
	const left = new Map(all.map(one => [one.key, one]))
	const groups = []
	const told = ({votes, state, value, why}) =>
		JSON.stringify([votes, state, value, why && [why.why, why.as, why.note]])
	for (const first of all) {
		if (!left.delete(first.key)) continue
		const group = []
		const found = [first]
		while (found.length) {
			const one = found.pop()
			group.push(one)
			for (const key of neighbours(one.key)) {
				const other = left.get(key)
				if (other && told(other) === told(one) && left.delete(key)) found.push(other)
			}
		}
		groups.push(group.sort(asRead))
	}
	return groups
}

function neighbours(key) {
	const [i, j] = placeOf(key)
	const near = (x, make) => (x === NULL ? [] : [x - 1, x + 1].filter(y => y >= 0).map(make))
	return key === JUDGED ? [] : [...near(i, x => `${x},${j}`), ...near(j, x => `${i},${x}`)]
}

// The event by which a group gets a value: as the vote of a number, or one's own. What cannot stand
// beside it goes.
export function decision(pair, voters, group, {vote, value}, note) {
	const data = {cells: [], whys: []}
	const keys = new Set(group.map(({key}) => key))
	const write = (one, wanted, reason) => {
		const {key, votes} = one
		const [i, j] = placeOf(key)
		const said = Object.fromEntries(voters.map(({id, seq}, at) => [id, [votes[at], seq]]))
		const after = JSON.stringify({...reason, votes: said, ...(note && {note})})
		const before = pair.whys.get(key) ?? null
		data.whys.push([i, j, before, after])
		if (key === JUDGED)
			Object.assign(data, {
				label: [pair.judgment, wanted[0] || ""],
				flags: [pair.flags, wanted.slice(1)],
			})
		else if (pair.value(key) !== wanted) data.cells.push([i, j, pair.value(key), wanted])
	}
	for (const one of group) {
		const agreed = vote !== undefined && one.votes.every(other => same(other, one.votes[vote]))
		const wanted = vote === undefined ? value : one.votes[vote]
		let reason = {why: "own"}
		if (agreed) reason = {why: AGREED}
		else if (vote !== undefined) reason = {why: "vote", as: voters[vote].id}
		write(one, wanted, reason)
		if (one.key === JUDGED || !wanted) continue
		for (const index of pair.against(pair.at(...placeOf(one.key)))) {
			const key = pair.cell(index).join()
			if (!pair.values[index] || keys.has(key)) continue
			keys.add(key)
			write(item(pair, voters, key), 0, {why: "own"})
		}
	}
	return data
}

// The least of the votes in the middle: what is taken for places that are not decided yet.
const middle = votes => [...votes].sort((a, b) => a - b)[Math.floor((votes.length - 1) / 2)]

// What the values that a group may get change in phrase pairs: [box, for each value {sure,
// possible}].
export function effects(pair, all, group, values) {
	const keys = new Set(group.map(({key}) => key))
	const links = new Map()
	for (const {key, state, votes, value} of all)
		if (key !== JUDGED && !key.includes("-1"))
			links.set(key, state === OPEN ? middle(votes) : value)
	const boxes = new Map()
	values.forEach((value, at) => {
		for (const [name, least] of [
			["possible", 1],
			["sure", 2],
		]) {
			const cells = [...links].map(([key, held]) => [...placeOf(key), keys.has(key) ? value : held])
			for (const key of keys)
				if (!links.has(key) && !key.includes("-1")) cells.push([...placeOf(key), value])
			const state = {
				cells: cells.filter(cell => cell[2] >= least),
				bulk: [],
				rejected: [],
				comments: [],
			}
			for (const box of atomic(new Pair({source: pair.source, target: pair.target, state}))) {
				const kept =
					boxes.get(box.join()) ||
					boxes.set(box.join(), [box, values.map(() => ({}))]).get(box.join())
				kept[1][at][name] = true
			}
		}
	})
	return [...boxes.values()].filter(
		([, told]) => new Set(told.map(({sure, possible}) => `${sure} ${possible}`)).size > 1,
	)
}
