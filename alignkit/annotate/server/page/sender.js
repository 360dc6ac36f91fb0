// Send what waits in the outbox: in order, again until it is acknowledged. Two tabs may send the
// same events; the server knows them by their ids, so that each is stored once.

const MOST_EVENTS = 100 // in one request
const MOST_BYTES = 150_000 // a request may have 256 kB
const KEEPALIVE_BYTES = 60_000 // what a browser sends for a page that is being closed
const FIRST_DELAY = 500 // milliseconds until the first retry
const LONGEST_DELAY = 10_000
export const AWAY = "Offline" // where nobody answers
const REFUSED = new Set([400, 404, 409, 413, 415, 422]) // sent again, they would be refused again
const ENDED = new Set([401, 403])

export class Sender {
	#outbox
	#wire
	#running = null
	#again = false
	#timer = 0
	#delay = FIRST_DELAY
	offline = "" // "Offline", or why the server did not store what waits
	stopped = false // the session has ended

	// `wire` has post(entries) -> {status, body}; then it is told what came of it: acknowledged,
	// refused or changed.
	constructor(outbox, wire) {
		this.#outbox = outbox
		this.#wire = wire
	}

	flush() {
		clearTimeout(this.#timer)
		this.#again = true
		this.#running ??= this.#run().finally(() => {
			this.#running = null
		})
		return this.#running
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
			this.#wire.post(run, {keepalive: true}).catch(() => {})
		}
	}

	async #run() {
		let alone = 0 // how many are to be sent one by one, to see which of them is refused
		while (this.#again && !this.stopped) {
			this.#again = false
			const waiting = await this.#outbox.all()
			if (!waiting.length) break
			const run = alone > 0 ? waiting.slice(0, 1) : runs(waiting).next().value
			const reply = await this.#wire.post(run).catch(() => null)
			const status = reply?.status ?? 0
			const taken = status >= 200 && status < 300
			if (ENDED.has(status)) break // what waits is kept until there is a session
			if (!taken && !REFUSED.has(status)) {
				// busy, full, too slow (408, 429): it may take it later
				this.#wait((status && reply.body?.message) || AWAY)
				break
			}
			this.offline = ""
			this.#delay = FIRST_DELAY
			if (taken) {
				await this.#wire.acknowledged(run, reply.body)
			} else if (run.length > 1) {
				alone = run.length + 1
			} else {
				await this.#wire.refused(run[0], reply)
			}
			alone -= 1
			this.#again = true
			this.#wire.changed()
		}
		this.#wire.changed()
	}

	#wait(why) {
		this.offline = why
		this.#timer = setTimeout(() => this.flush(), this.#delay * (0.75 + Math.random() / 2))
		this.#delay = Math.min(2 * this.#delay, LONGEST_DELAY)
	}
}

// Cut what waits into requests: each of one pair, of one text.
function* runs(entries) {
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

function size(entries) {
	const text = JSON.stringify(entries.map(entry => entry.event))
	return new TextEncoder().encode(text).length + 100
}
