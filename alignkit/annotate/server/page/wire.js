// @ts-check
// The pairs, the news and the other tabs of a page: calls the queue, hears it, and tells the page.
import {Outbox} from "./outbox.js"
import {AT, PROJECT} from "./place.js"
import {AWAY, Queue} from "./queue.js"
import {whole} from "./refusals.js"
import {admitted, Server} from "./server.js"

/** @import {Conflict, Entry, PairDocument, Post, ProgressReport, QueueNews} from "./types" */
/** @import {Sent, Stored, StoredEvent, TabMessage} from "./types" */

const POLL = 2000 // milliseconds
const KEPT = 20000 // a download, for the browser to save it
const CLAIM = 500
const ENDED = PROJECT ? "Sign in again." : "Open the URL that `alignkit annotate` printed last."

/**
 * Enter a project, see `admitted`.
 * @param {{progress?: ProgressReport}} [told]
 */
export async function enter(told = {}) {
	const project = await admitted(told)
	return new Wire(new Server(project), await Outbox.open(project.box))
}

class Wire extends EventTarget {
	#server
	#queue
	#channel
	#tab = newId()
	/** @type {Map<number, number>} by pair that was asked for: the last seq that the page was told */
	#seen = new Map()
	/** @type {Map<number, number>} by pair: the last seq known here */
	#latest = new Map()
	/** @type {Map<number, Promise<PairDocument | null>>} */
	#ahead = new Map()
	/** @type {Map<string, number>} refusals that wait for the tab that made the event */
	#claims = new Map()
	/** @type {string | undefined} the id of the first event that waited at the last look */
	#overdue
	#n
	#timer = 0
	#waiting = 0 // events, as last told
	#refusal = ""
	#ended = ENDED

	/**
	 * @param {Server} server
	 * @param {Outbox} outbox
	 */
	constructor(server, outbox) {
		super()
		this.project = server.project
		this.#server = server
		this.#n = this.project.n
		this.#channel = new BroadcastChannel(this.project.box)
		this.#channel.onmessage = ({data}) => this.#heard(data)
		this.#queue = new Queue(outbox, (entries, how) => this.#post(entries, how))
		this.#queue.hear("stored", news => {
			this.#send({kind: "stored", ...news}) // the other tabs hear it first
			this.#stored(news)
		})
		this.#queue.hear("refused", news => this.#refused(news))
		this.#queue.hear("changed", () => this.changed())
		server.addEventListener("ended", event => {
			this.#leave(/** @type {CustomEvent<string | undefined>} */ (event).detail)
		})
		server.addEventListener("renewed", () => {
			if (this.#queue.stopped) this.#queue.resume()
		})
		this.#send({kind: "entered"})
		document.addEventListener("visibilitychange", () => this.#looked())
		addEventListener("pagehide", () => this.#leaving())
		addEventListener("online", () => this.#queue.flush())
		this.#queue.flush() // what an earlier visit left
		this.#timer = setTimeout(() => this.#poll(), POLL)
	}

	// Pairs

	/**
	 * @param {number} k
	 * @returns {Promise<PairDocument>}
	 */
	async pair(k) {
		const ahead = await this.#ahead.get(k)
		const get = () => this.peek(k, "")
		this.#ahead.delete(k)
		/** @type {PairDocument | null | undefined} */
		let known = ahead
		// what was learned since is to be shown; without a server what is at hand has to do
		if (ahead?.learning) known = await get().catch(() => ahead)
		for (let attempt = 0; ; attempt += 1) {
			const pair = known ?? (await get())
			known = null
			const waiting = (await this.#queue.of(k)).filter(entry => entry.rev === pair.rev)
			if (pair.state.seq < (this.#latest.get(k) ?? 0) && attempt < 3) continue // overtaken
			const stored = new Set([...pair.undo, ...pair.redo].map(event => event.id))
			pair.pending = waiting.map(whole).filter(({id}) => !stored.has(id))
			this.#seen.set(k, pair.state.seq)
			return pair
		}
	}

	/**
	 * Have a pair at hand before it is asked for.
	 * @param {number} k
	 */
	prefetch(k) {
		if (this.#ahead.has(k)) return
		const reply = this.peek(k).catch(() => null)
		this.#ahead.set(k, reply)
		// suggestions may still come to a pair that nobody has opened
		reply.then(pair => {
			if (!pair || pair.preparing) this.#ahead.delete(k)
		})
	}

	/**
	 * A pair that is at hand or on its way; undefined if it was not asked for.
	 * @param {number} k
	 */
	ahead(k) {
		return this.#ahead.get(k)
	}

	/**
	 * A pair as the server has it now, without opening it.
	 * @param {number} k
	 * @param {string} [how]
	 * @returns {Promise<PairDocument>}
	 */
	peek(k, how = "?prefetch=1") {
		return this.get(`${this.project.at}/${k}${how}`)
	}

	// Lists, and all else that is only asked for

	/**
	 * @param {string} path
	 * @param {boolean} [file]
	 * @param {object} [body] what is sent, by POST
	 */
	get(path, file, body) {
		return this.#server.get(path, file, body)
	}

	queue(after = 0, limit = 200) {
		return this.get(`queue?after=${after}&limit=${limit}`)
	}

	/** @type {(word: string, side: string) => Promise<any>} */
	concordance(word, side) {
		return this.get(`concordance?word=${encodeURIComponent(word)}&side=${side}`)
	}

	/**
	 * Pairs by text and filter; of adjudicators those that are ready.
	 * @type {(text: string, only: string, after: number, limit: number) => Promise<any>}
	 */
	find(text, only, after, limit) {
		const list = this.project.at === "gold" ? "gold" : "find"
		const query = `q=${encodeURIComponent(text)}&only=${only}&after=${after}&limit=${limit}`
		return this.get(`${list}?${query}`)
	}

	/** @param {number} k */
	history(k) {
		return this.get(`pairs/${k}/history`)
	}

	/**
	 * Let the browser save what was done; a plain link to it would lack the header.
	 * @param {string} format
	 */
	async download(format) {
		const [blob, about] = await this.get(`export?to=${encodeURIComponent(format)}`, true)
		const href = URL.createObjectURL(blob)
		Object.assign(document.createElement("a"), {href, download: about.split('"')[1]}).click()
		setTimeout(() => URL.revokeObjectURL(href), KEPT)
	}

	// What the page sends

	newId() {
		return newId()
	}

	/**
	 * @param {number} k
	 * @param {number} rev
	 * @param {Sent} event
	 * @param {Entry["about"]} about what a refusal needs to be told later
	 */
	push(k, rev, event, about = {}) {
		this.#refusal = ""
		this.#ahead.delete(k)
		const base = this.#seen.get(k) ?? 0
		this.#queue.add({k, rev, event, about, base, tab: this.#tab})
		this.#tell(this.#waiting + 1) // at once: nobody reads "Saved" under an edit that is not
		this.changed()
	}

	/** @type {Post} */
	async #post(entries, {keepalive} = {}) {
		const {k, rev, base} = entries[0]
		const events = entries.map(entry => entry.event)
		const body = {base: this.#seen.get(k) ?? base, rev, events}
		const path = `${this.project.at}/${k}/events`
		const reply = await this.#server.ask("POST", path, {body, keepalive})
		if (reply.status === 403) this.#leave(reply.body?.message)
		return reply
	}

	/**
	 * Wait until all edits of a pair are stored; false where the server is away.
	 * @param {number} k
	 */
	async sent(k) {
		while ((await this.#queue.of(k)).length) {
			if (this.#queue.stopped) return false
			await this.#queue.flush()
			if (this.#queue.offline) return false
		}
		return true
	}

	// The user knows what was refused.
	settled() {
		this.#refusal = ""
		this.changed()
	}

	// What came of it

	/** @param {Stored} news */
	#stored({k, events, ids}) {
		this.#deliver(k, events)
		this.#emit("acknowledged", {k, ids})
		this.changed()
	}

	/**
	 * The tab that made an event tells of its refusal; if it does not answer, this one.
	 * @param {QueueNews["refused"]} news
	 */
	#refused({entry, refused, reply: {status, body}}) {
		const {k, event, tab, rev} = entry
		const detail = {
			k,
			refused,
			events: body?.events ?? [],
			rev: body?.rev,
			old: rev,
			moved: body?.error === "moved",
			status,
			message: body?.message ?? `The server answered ${status}.`,
		}
		if (tab === this.#tab) {
			this.#conflict(detail)
			return
		}
		this.#send({kind: "refused", tab, detail})
		const unclaimed = () => {
			this.#claims.delete(event.id)
			this.#conflict(detail)
		}
		this.#claims.set(event.id, setTimeout(unclaimed, CLAIM))
	}

	/** @param {Conflict} detail */
	#conflict(detail) {
		this.#refusal = detail.message
		this.#deliver(detail.k, detail.events)
		this.#emit("conflict", detail)
		this.changed()
	}

	/**
	 * Tell the page what is stored beyond what it knows of a pair.
	 * @param {number} k
	 * @param {StoredEvent[]} events
	 */
	#deliver(k, events) {
		const seq = events.at(-1)?.seq
		if (seq === undefined) return
		this.#ahead.delete(k)
		this.#latest.set(k, Math.max(seq, this.#latest.get(k) ?? 0))
		const seen = this.#seen.get(k)
		if (seen === undefined) return
		const news = events.filter(event => event.seq > seen)
		if (!news.length) return
		if (news[0].seq > seen + 1) {
			this.#poll() // some are missing: ask for them
			return
		}
		this.#seen.set(k, seq)
		this.#emit("events", {k, seq, events: news})
	}

	// Other tabs

	/** @param {TabMessage} message */
	#send(message) {
		this.#channel.postMessage(message)
	}

	/** @param {TabMessage} message */
	#heard(message) {
		if (message.kind === "stored") {
			this.#stored(message)
		} else if (message.kind === "entered" && this.#queue.stopped) {
			this.#server.renew()
		} else if (message.kind === "refused" && message.tab === this.#tab) {
			this.#send({kind: "claimed", id: message.detail.refused[0].id})
			this.#conflict(message.detail)
		} else if (message.kind === "claimed") {
			clearTimeout(this.#claims.get(message.id))
			this.#claims.delete(message.id)
		}
	}

	// News

	async #poll() {
		clearTimeout(this.#timer)
		if (document.visibilityState === "visible") {
			if (this.#queue.stopped) await this.#server.renew()
			else await this.#changes()
			// what waited at the last look already may be of a closed tab, and nobody else sends it
			const first = await this.#queue.first()
			if (first && first === this.#overdue && !this.#queue.offline) this.#queue.flush()
			this.#overdue = first
		}
		clearTimeout(this.#timer) // of another poll meanwhile
		this.#timer = setTimeout(() => this.#poll(), POLL)
	}

	async #changes() {
		const path = AT === "gold" ? "gold/changes" : "changes"
		const {status, body} = await this.#server.ask("GET", `${path}?after=${this.#n}`)
		if (status === 200) {
			this.#n = Math.max(this.#n, body.n)
			for (const [k, events] of Object.entries(body.pairs)) this.#deliver(Number(k), events)
			for (const k of body.votes ?? []) this.#ahead.delete(k)
			this.#emit("votes", body.votes)
		}
		if (status > 0 && status < 500) this.#queue.reached()
	}

	/** @param {string} [message] */
	#leave(message) {
		this.#queue.stopped = true
		this.#ended = (PROJECT && message) || this.#ended
		this.changed()
	}

	// The page may have something to add before the last is sent.
	#leaving() {
		this.#emit("leaving")
		this.#queue.farewell()
	}

	#looked() {
		if (document.visibilityState === "hidden") {
			this.#leaving()
			return
		}
		this.#queue.flush()
		this.#poll()
	}

	// What the page is told

	async changed() {
		this.#tell(await this.#queue.waiting())
	}

	/** @param {number} waiting */
	#tell(waiting) {
		this.#waiting = waiting
		this.#emit("status", {waiting, ...this.#state(waiting)})
	}

	/** @param {number} waiting */
	#state(waiting) {
		const {lasting, offline, stopped} = this.#queue
		const place = lasting ? "browser" : "tab only: do not close it"
		const kept = `${waiting} edit${waiting === 1 ? "" : "s"} kept in this ${place}`
		if (stopped) return {state: "left", text: waiting ? `${this.#ended} ${kept}` : this.#ended}
		if (offline) {
			const text = waiting ? `${offline}: ${kept}` : offline
			return {state: "offline", text, why: offline !== AWAY && offline}
		}
		if (waiting) return {state: "saving", text: `Saving ${waiting}`}
		if (this.#refusal) return {state: "refused", text: this.#refusal}
		return {state: "saved", text: "Saved"}
	}

	/**
	 * @param {string} type
	 * @param {object} [detail]
	 */
	#emit(type, detail) {
		this.dispatchEvent(new CustomEvent(type, {detail}))
	}
}

// A random UUID: over plain http there is no crypto.randomUUID.
export function newId() {
	const bytes = crypto.getRandomValues(new Uint8Array(16))
	bytes[6] = (bytes[6] & 0x0f) | 0x40
	bytes[8] = (bytes[8] & 0x3f) | 0x80
	const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")
	return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}
