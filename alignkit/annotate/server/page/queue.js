// @ts-check
// What waits to be sent: kept in the outbox, sent in order, again until it is acknowledged. Two tabs
// may send the same events; the server knows them by their ids, so that each is stored once.
import {dependent, whole} from "./refusals.js"

/** @import {Outbox} from "./outbox.js" */
/** @import {Entry, Post, QueueNews, Reply} from "./types" */

const MOST_EVENTS = 100 // in one request
const MOST_BYTES = 150_000 // a request may have 256 kB
const KEEPALIVE_BYTES = 60_000 // what a browser sends for a page that is being closed
const FIRST_DELAY = 500 // milliseconds until the first retry
const LONGEST_DELAY = 10_000
export const AWAY = "Offline" // where nobody answers
const REFUSED = new Set([400, 404, 409, 413, 415, 422]) // sent again, they would be refused again
const ENDED = new Set([401, 403])

// It tells what came of what waited, by the events of `QueueNews`: `stored` and `refused` when it is
// out of the outbox, `changed` where the number that waits, or why they wait, may be another one.
export class Queue extends EventTarget {
	#outbox
	#post
	/** @type {Promise<void> | null} */
	#running = null
	#again = false
	#timer = 0
	#delay = FIRST_DELAY
	offline = "" // "Offline", or why the server did not store what waits
	stopped = false // the session has ended

	/**
	 * @param {Pick<Outbox, "add" | "all" | "lasting" | "mine" | "remove" | "waiting">} outbox
	 * @param {Post} post
	 */
	constructor(outbox, post) {
		super()
		this.#outbox = outbox
		this.#post = post
	}

	/**
	 * @template {keyof QueueNews} Type
	 * @param {Type} type
	 * @param {(news: QueueNews[Type]) => void} act
	 */
	hear(type, act) {
		this.addEventListener(type, event => act(/** @type {CustomEvent} */ (event).detail))
	}

	/**
	 * @template {keyof QueueNews} Type
	 * @param {Type} type
	 * @param {QueueNews[Type]} detail
	 */
	#tell(type, detail) {
		this.dispatchEvent(new CustomEvent(type, {detail}))
	}

	/** @param {Entry} entry */
	async add(entry) {
		await this.#outbox.add(entry)
		this.flush()
	}

	/**
	 * What waits of a pair.
	 * @param {number} k
	 */
	async of(k) {
		return (await this.#outbox.all()).filter(entry => entry.k === k)
	}

	// The id of the event that waits longest.
	async first() {
		return (await this.#outbox.all())[0]?.event.id
	}

	// How many wait.
	waiting() {
		return this.#outbox.waiting()
	}

	// Whether all that waits outlives this tab.
	get lasting() {
		return this.#outbox.lasting
	}

	flush() {
		clearTimeout(this.#timer)
		this.#again = true
		this.#running ??= this.#run().finally(() => {
			this.#running = null
		})
		return this.#running
	}

	// There is a session again.
	resume() {
		this.stopped = false
		this.flush()
	}

	// The server answered something: what waits need not wait longer.
	reached() {
		if (this.offline !== AWAY) return
		this.offline = ""
		this.#delay = FIRST_DELAY
		this.flush()
	}

	// Send once more what a page that is being hidden or closed may not live to send: one request
	// for each pair, as of two at once the second may come first. The rest waits in the outbox.
	farewell() {
		const pairs = new Set()
		let bytes = 0
		for (const run of runs(this.#outbox.mine)) {
			if (pairs.has(run[0].k)) continue
			pairs.add(run[0].k)
			bytes += size(run)
			if (this.stopped || bytes > KEEPALIVE_BYTES) return
			this.#post(run, {keepalive: true}).catch(() => {})
		}
	}

	async #run() {
		let alone = 0 // how many are to be sent one by one, to see which of them is refused
		while (this.#again && !this.stopped) {
			this.#again = false
			const waiting = await this.#outbox.all()
			if (!waiting.length) break
			const run = alone > 0 ? waiting.slice(0, 1) : firstRun(waiting)
			const reply = await this.#post(run).catch(() => null)
			const status = reply?.status ?? 0
			const taken = status >= 200 && status < 300
			if (ENDED.has(status)) break // what waits is kept until there is a session
			if (!reply || (!taken && !REFUSED.has(status))) {
				// busy, full, too slow (408, 429): it may take it later
				this.#wait((status && reply?.body?.message) || AWAY)
				break
			}
			this.offline = ""
			this.#delay = FIRST_DELAY
			if (taken) {
				await this.#stored(run, reply)
			} else if (run.length > 1) {
				alone = run.length + 1
			} else {
				await this.#refused(run[0], reply)
			}
			alone -= 1
			this.#again = true
			this.#tell("changed", undefined)
		}
		this.#tell("changed", undefined)
	}

	/** @param {string} why */
	#wait(why) {
		this.offline = why
		this.#timer = setTimeout(() => this.flush(), this.#delay * (0.75 + Math.random() / 2))
		this.#delay = Math.min(2 * this.#delay, LONGEST_DELAY)
	}

	/**
	 * @param {Entry[]} run
	 * @param {Reply} reply
	 */
	async #stored(run, {body}) {
		const ids = run.map(entry => entry.event.id)
		await this.#outbox.remove(ids)
		this.#tell("stored", {k: run[0].k, events: body.events, ids})
	}

	/**
	 * What builds on a refused event is taken back with it: the user is asked about all of it once.
	 * @param {Entry} entry
	 * @param {Reply} reply
	 */
	async #refused(entry, reply) {
		const held = dependent(await this.#outbox.all(), entry, reply.body?.rev)
		const removed = await this.#outbox.remove(held.map(later => later.event.id))
		if (!removed.size) return // another tab tells
		const taken = held.filter(later => removed.has(later.event.id))
		this.#tell("refused", {entry, refused: taken.map(whole), reply})
	}
}

/**
 * Cut what waits into requests: each of one pair, of one text.
 * @param {Entry[]} entries
 */
function* runs(entries) {
	/** @type {Entry[]} */
	let run = []
	let bytes = 0
	for (const entry of entries) {
		const more = size([entry])
		const apart = run.length && (entry.k !== run[0].k || entry.rev !== run[0].rev)
		if (apart || run.length === MOST_EVENTS || (run.length && bytes + more > MOST_BYTES)) {
			yield run
			run = []
			bytes = 0
		}
		run.push(entry)
		bytes += more
	}
	if (run.length) yield run
}

/**
 * The first request of what waits.
 * @param {Entry[]} entries
 */
function firstRun(entries) {
	for (const run of runs(entries)) return run
	return []
}

/** @param {Entry[]} entries */
function size(entries) {
	const text = JSON.stringify(entries.map(entry => entry.event))
	return new TextEncoder().encode(text).length + 100
}
