// Speak with the server: enter, ask, and send events through the outbox.

import {Outbox} from "./outbox.js"
import {API, AT, PROJECT, ROOT, signIn} from "./place.js"
import {dependent, whole} from "./refusals.js"
import {AWAY, Sender} from "./sender.js"

const POLL = 2000 // milliseconds
const PATIENCE = 20000
const CLAIM = 500
const AGAIN = "Open the URL that `alignkit annotate` printed last."
const START = `project?at=${AT}`

async function request(method, path, {body, csrf, account, keepalive, file} = {}) {
	const headers = {Prefer: "wait=1"}
	if (account) headers["X-Account"] = encodeURIComponent(account)
	if (csrf) headers["X-CSRF-Token"] = csrf
	if (body) headers["Content-Type"] = "application/json"
	const options = {
		method,
		headers,
		keepalive,
		cache: "no-store",
		body: body && JSON.stringify(body),
	}
	const signal = AbortSignal.timeout(PATIENCE * (file ? 30 : 1))
	try {
		const reply = await fetch(path, {...options, signal})
		const {status, ok} = reply
		if (file && ok)
			return {status, body: [await reply.blob(), reply.headers.get("Content-Disposition")]}
		const text = await reply.text()
		return {status, body: text ? JSON.parse(text) : null}
	} catch {
		return {status: 0, body: {message: "The server cannot be reached."}}
	}
}

function checked(reply) {
	if (reply.status >= 200 && reply.status < 300) return reply.body
	throw new Error(reply.body?.message ?? `The server answered ${reply.status}.`, {
		cause: reply.body?.error,
	})
}

// Ask again while the project is being made; `progress` is told how far that is.
async function patient(method, path, options, progress) {
	for (;;) {
		const reply = await request(method, path, options)
		if (reply.status !== 503) return reply
		progress?.({text: reply.body?.message ?? "", share: reply.body?.share ?? null, start: null})
		await pause(300)
	}
}

const pause = ms =>
	new Promise(resolve => {
		setTimeout(resolve, ms)
	})

// The second secret of a project's session (of the newest, where none is named) that this browser
// keeps: each origin has its own, and another port is another origin.
function kept(key) {
	try {
		return localStorage[`alignkit ${key ?? localStorage.alignkit}`]
	} catch {
		// it keeps nothing
	}
}

function keep({key, csrf}) {
	try {
		localStorage[`alignkit ${key}`] = csrf
		localStorage.alignkit = key
	} catch {
		// this tab alone knows it
	}
	return csrf
}

// Enter with the token of the URL, or with the two secrets of an earlier visit.
//
// `progress({text, share, start})` is called while the project is being made (start: null), and
// while suggestions are being made: start() goes on at once without them, for the pairs that are
// opened meanwhile.
export async function enter(told = {}) {
	const project = await admitted(told)
	return new Wire(project, await Outbox.open(project.box))
}

// What the server tells of the project, with the second secret, to a page that sends no events.
export async function admitted({progress}) {
	const token = /^#([A-Za-z0-9_-]{20,})$/.exec(location.hash)?.[1]
	let csrf = kept()
	if (token) {
		const {status, body} = await patient("POST", `${ROOT}enter`, {body: {token}}, progress)
		if (status) history.replaceState(null, "", location.pathname + location.search)
		if (status === 200) csrf = keep(body)
	}
	const first = await patient("GET", API + START, {csrf}, progress)
	if (PROJECT && first.status === 401) {
		signIn()
		await new Promise(() => {}) // another page comes
	}
	let project = checked(first)
	let go = !progress
	while (project.preparing && !go) {
		progress({
			...project.preparing,
			start: () => {
				go = true
			},
		})
		await pause(300)
		project = checked(await request("GET", API + START, {csrf}))
	}
	project.csrf = csrf
	return project
}

class Wire extends EventTarget {
	#outbox
	#sender
	#channel
	#tab = newId()
	#seen = new Map() // by pair that was asked for: the last seq that the page was told
	#latest = new Map() // by pair: the last seq known here
	#ahead = new Map()
	#claims = new Map() // refusals that wait for the tab that made the event
	#overdue // the id of the first event that waited at the last look
	#n
	#timer = 0
	#waiting = 0 // events, as last told
	#refusal = ""
	#ended = PROJECT ? "Sign in again." : AGAIN

	constructor(project, outbox) {
		super()
		this.project = project
		this.#n = project.n
		this.#outbox = outbox
		this.#sender = new Sender(outbox, this)
		this.#channel = new BroadcastChannel(project.box)
		this.#channel.onmessage = ({data}) => this.#heard(data)
		this.#channel.postMessage({kind: "entered"})
		document.addEventListener("visibilitychange", () => this.#looked())
		addEventListener("pagehide", () => this.#leaving())
		addEventListener("online", () => this.#sender.flush())
		this.#sender.flush() // what an earlier visit left
		this.#timer = setTimeout(() => this.#poll(), POLL)
	}

	async pair(k) {
		const ahead = await this.#ahead.get(k)
		const get = () => this.peek(k, "")
		this.#ahead.delete(k)
		// what was learned since is to be shown; without a server what is at hand has to do
		let reply = ahead?.learning ? get().catch(() => ahead) : ahead
		for (let attempt = 0; ; attempt += 1) {
			const pair = (await reply) ?? (await get())
			reply = null
			const waiting = (await this.#outbox.all()).filter(
				entry => entry.k === k && entry.rev === pair.rev,
			)
			if (pair.state.seq < (this.#latest.get(k) ?? 0) && attempt < 3) continue // overtaken
			const known = new Set([...pair.undo, ...pair.redo].map(event => event.id))
			pair.pending = waiting.map(whole).filter(({id}) => !known.has(id))
			this.#seen.set(k, pair.state.seq)
			return pair
		}
	}

	// Have a pair at hand before it is asked for.
	prefetch(k) {
		if (this.#ahead.has(k)) return
		const reply = this.peek(k).catch(() => null)
		this.#ahead.set(k, reply)
		// suggestions may still come to a pair that nobody has opened
		reply.then(pair => {
			if (!pair || pair.preparing) this.#ahead.delete(k)
		})
	}

	newId() {
		return newId()
	}

	// `about` is what a refusal needs to be told later: {told, data}.
	push(k, rev, event, about = {}) {
		this.#refusal = ""
		this.#ahead.delete(k)
		const entry = {k, rev, event, about, base: this.#seen.get(k) ?? 0, tab: this.#tab}
		const added = this.#outbox.add(entry)
		this.#tell(this.#waiting + 1) // at once: nobody reads "Saved" under an edit that is not
		this.changed()
		added.then(() => this.#sender.flush())
	}

	// The user knows what was refused.
	settled() {
		this.#refusal = ""
		this.changed()
	}

	// Wait until all edits of a pair are stored; false where the server is away.
	async sent(k) {
		while ((await this.#outbox.all()).some(entry => entry.k === k)) {
			if (this.#sender.stopped) return false
			await this.#sender.flush()
			if (this.#sender.offline) return false
		}
		return true
	}

	// A pair as the server has it now, without opening it.
	peek(k, how = "?prefetch=1") {
		return this.get(`${this.project.at}/${k}${how}`)
	}

	queue(after = 0, limit = 200) {
		return this.get(`queue?after=${after}&limit=${limit}`)
	}

	// Pairs by text and filter; of adjudicators those that are ready.
	concordance(word, side) {
		return this.get(`concordance?word=${encodeURIComponent(word)}&side=${side}`)
	}
	find(text, only, after, limit) {
		const list = this.project.at === "gold" ? "gold" : "find"
		const query = `q=${encodeURIComponent(text)}&only=${only}&after=${after}&limit=${limit}`
		return this.get(`${list}?${query}`)
	}

	history(k) {
		return this.get(`pairs/${k}/history`)
	}

	// Let the browser save what was done; a plain link to it would lack the header.
	async download(format) {
		const [blob, about] = await this.get(`export?to=${encodeURIComponent(format)}`, true)
		const href = URL.createObjectURL(blob)
		Object.assign(document.createElement("a"), {href, download: about.split('"')[1]}).click()
		setTimeout(() => URL.revokeObjectURL(href), PATIENCE)
	}

	async get(path, file, body) {
		const reply = await this.#ask(body ? "POST" : "GET", path, {file, body})
		if (reply.status === 401) this.#leave(reply.body)
		return checked(reply)
	}

	async #ask(method, path, options) {
		const ask = () =>
			request(method, API + path, {
				...options,
				csrf: this.project.csrf,
				account: this.project.annotator,
			})
		const reply = await ask()
		return reply.status === 403 && (await this.#renew()) ? ask() : reply
	}

	async post(entries, {keepalive} = {}) {
		const {k, rev, base} = entries[0]
		const events = entries.map(entry => entry.event)
		const body = {base: this.#seen.get(k) ?? base, rev, events}
		const reply = await this.#ask("POST", `${this.project.at}/${k}/events`, {body, keepalive})
		if (reply.status === 401 || reply.status === 403) this.#leave(reply.body)
		return reply
	}

	async acknowledged(entries, {events}) {
		const {k} = entries[0]
		const ids = entries.map(entry => entry.event.id)
		await this.#outbox.remove(ids)
		this.#channel.postMessage({kind: "stored", k, events, ids})
		this.#stored(k, events, ids)
	}

	#stored(k, events, ids) {
		this.#deliver(k, events)
		this.#emit("acknowledged", {k, ids})
		this.changed()
	}

	// What builds on a refused event is taken back with it: the user is asked about all of it once.
	async refused(entry, {status, body}) {
		const {k, event, tab, rev} = entry
		const held = dependent(await this.#outbox.all(), entry, body?.rev)
		const removed = await this.#outbox.remove(held.map(later => later.event.id))
		if (!removed.size) return // another tab tells
		const taken = held.filter(later => removed.has(later.event.id))
		const detail = {
			k,
			refused: taken.map(whole),
			events: body?.events ?? [],
			rev: body?.rev,
			old: rev,
			moved: body?.error === "moved",
			status,
			message: body?.message ?? `The server answered ${status}.`,
		}
		if (tab === this.#tab) return this.#conflict(detail)
		this.#channel.postMessage({kind: "refused", tab, detail})
		const unclaimed = () => {
			this.#claims.delete(event.id)
			this.#conflict(detail)
		}
		this.#claims.set(event.id, setTimeout(unclaimed, CLAIM))
	}

	#conflict(detail) {
		this.#refusal = detail.message
		this.#deliver(detail.k, detail.events)
		this.#emit("conflict", detail)
		this.changed()
	}

	// Tell the page what is stored beyond what it knows of a pair.
	#deliver(k, events) {
		if (!events.length) return
		const seq = events.at(-1).seq
		this.#ahead.delete(k)
		this.#latest.set(k, Math.max(seq, this.#latest.get(k) ?? 0))
		const seen = this.#seen.get(k)
		const news = events.filter(event => event.seq > seen)
		if (seen === undefined || !news.length) return
		if (news[0].seq > seen + 1) return void this.#poll() // some are missing: ask for them
		this.#seen.set(k, seq)
		this.#emit("events", {k, seq, events: news})
	}

	#heard({kind, k, events, ids, tab, detail, id}) {
		if (kind === "stored") {
			this.#stored(k, events, ids)
		} else if (kind === "entered" && this.#sender.stopped) {
			this.#renew()
		} else if (kind === "refused" && tab === this.#tab) {
			this.#channel.postMessage({kind: "claimed", id: detail.refused[0].id})
			this.#conflict(detail)
		} else if (kind === "claimed") {
			clearTimeout(this.#claims.get(id))
			this.#claims.delete(id)
		}
	}

	async #poll() {
		clearTimeout(this.#timer)
		if (document.visibilityState === "visible") {
			if (this.#sender.stopped) await this.#renew()
			else await this.#changes()
			// what waited at the last look already may be of a closed tab, and nobody else sends it
			const first = (await this.#outbox.all())[0]?.event.id
			if (first && first === this.#overdue && !this.#sender.offline) this.#sender.flush()
			this.#overdue = first
		}
		clearTimeout(this.#timer) // of another poll meanwhile
		this.#timer = setTimeout(() => this.#poll(), POLL)
	}

	async #changes() {
		const {status, body} = await this.#ask(
			"GET",
			`${AT === "gold" ? "gold/" : ""}changes?after=${this.#n}`,
		)
		if (status === 200) {
			this.#n = Math.max(this.#n, body.n)
			for (const [k, events] of Object.entries(body.pairs)) this.#deliver(Number(k), events)
			this.#emit("votes", body.votes)
		} else if (status === 401) {
			this.#leave(body)
		}
		if (status > 0 && status < 500) this.#sender.reached()
	}

	// Take the secret that another tab has kept; true if it is one of this annotator in this project.
	async #renew() {
		const csrf = kept(this.project.key) ?? this.project.csrf
		const {status, body} = await request("GET", API + START, {csrf})
		if (status === 0 || status >= 500) return false
		if (body?.box !== this.project.box) return this.#leave(body)
		this.project.csrf = csrf
		if (this.#sender.stopped) {
			this.#sender.stopped = false
			this.#sender.flush()
		}
		return true
	}

	#leave(body) {
		this.#sender.stopped = true
		this.#ended = (PROJECT && body?.message) || this.#ended
		this.changed()
		return false
	}

	// The page may have something to add before the last is sent.
	#leaving() {
		this.#emit("leaving")
		this.#sender.farewell()
	}

	#looked() {
		if (document.visibilityState === "hidden") return this.#leaving()
		this.#sender.flush()
		this.#poll()
	}

	async changed() {
		this.#tell(await this.#outbox.waiting())
	}

	#tell(waiting) {
		this.#waiting = waiting
		this.#emit("status", {waiting, ...this.#state(waiting)})
	}

	#state(waiting) {
		const {stopped, offline} = this.#sender
		const place = this.#outbox.lasting ? "browser" : "tab only: do not close it"
		const kept = `${waiting} edit${waiting === 1 ? "" : "s"} kept in this ${place}`
		if (stopped) return {state: "left", text: waiting ? `${this.#ended} ${kept}` : this.#ended}
		if (offline)
			return {
				state: "offline",
				text: offline + (waiting ? `: ${kept}` : ""),
				why: offline !== AWAY && offline,
			}
		if (waiting) return {state: "saving", text: `Saving ${waiting}`}
		if (this.#refusal) return {state: "refused", text: this.#refusal}
		return {state: "saved", text: "Saved"}
	}

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
