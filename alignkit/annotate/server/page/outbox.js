// Keep the events that the server has not yet acknowledged: in IndexedDB, in the order in which
// they were made, shared by the tabs of one annotator; in memory where there is no IndexedDB.

const STORE = "events"

export class Outbox {
	#database = null // null: all is kept in memory
	#memory = [] // what IndexedDB did not take
	#mine = new Map() // what this tab added, to be at hand when it is hidden

	// The name holds project and annotator: another login never sends what waits here.
	static async open(name) {
		const outbox = new Outbox()
		try {
			const database = await opened(name)
			outbox.#database = database
			database.onclose = () => outbox.#fall() // the user cleared what this site had kept
			database.onversionchange = () => {
				database.close()
				outbox.#fall()
			}
		} catch {
			// kept in memory; lasting tells
		}
		return outbox
	}

	// Whether all that waits outlives this tab.
	get lasting() {
		return this.#database !== null && this.#memory.length === 0
	}

	// What this tab added and nobody took out, as far as it knows.
	get mine() {
		return [...this.#mine.values()].map(kept => kept.entry)
	}

	async add(entry) {
		const kept = {entry, stored: false}
		this.#mine.set(entry.event.id, kept)
		try {
			if (!this.lasting) throw new Error("kept in memory") // in order: no later one overtakes
			await this.#change(store => {
				store.add(entry)
				store.transaction.commit?.() // at once: the tab may be closing
			})
			kept.stored = true
		} catch {
			this.#memory.push(entry)
		}
	}

	async all() {
		try {
			if (!this.#database) return [...this.#memory]
			const all = [...(await this.#read(store => store.getAll())), ...this.#memory]
			const there = new Set(all.map(({event}) => event.id))
			for (const [id, {stored}] of this.#mine) {
				if (stored && !there.has(id)) this.#mine.delete(id) // another tab has sent it
			}
			return all
		} catch {
			this.#fall()
			return [...this.#memory]
		}
	}

	// How many wait, those too that are only being put in.
	async waiting() {
		const there = new Set((await this.all()).map(({event}) => event.id))
		for (const id of this.#mine.keys()) there.add(id)
		return there.size
	}

	// Take events out, by id; return the ids that were there. Of two tabs only one gets each.
	async remove(ids) {
		const wanted = new Set(ids)
		const removed = new Set()
		const keep = ({event}) => !wanted.has(event.id) || !removed.add(event.id)
		this.#memory = this.#memory.filter(keep)
		for (const id of wanted) this.#mine.delete(id)
		try {
			if (this.#database !== null) await this.#change(store => take(store, wanted, removed))
		} catch {
			this.#fall()
		}
		return removed
	}

	// Go on in memory, with what this tab knows of.
	#fall() {
		this.#database = null
		this.#memory = this.mine
	}

	#change(act) {
		return new Promise((resolve, reject) => {
			const transaction = this.#database.transaction(STORE, "readwrite")
			transaction.oncomplete = () => resolve()
			transaction.onabort = transaction.onerror = () => reject(transaction.error)
			act(transaction.objectStore(STORE))
		})
	}

	#read(ask) {
		return new Promise((resolve, reject) => {
			const asked = ask(this.#database.transaction(STORE).objectStore(STORE))
			asked.onsuccess = () => resolve(asked.result)
			asked.onerror = () => reject(asked.error)
		})
	}
}

function take(store, wanted, removed) {
	for (const id of wanted) {
		const asked = store.index("id").getKey(id)
		asked.onsuccess = () => {
			if (asked.result === undefined) return
			removed.add(id)
			store.delete(asked.result)
		}
	}
}

function opened(name) {
	return new Promise((resolve, reject) => {
		const asked = indexedDB.open(name, 1)
		asked.onupgradeneeded = () => {
			const store = asked.result.createObjectStore(STORE, {autoIncrement: true})
			store.createIndex("id", "event.id")
		}
		asked.onsuccess = () => resolve(asked.result)
		asked.onerror = asked.onblocked = () => reject(asked.error ?? new Error("blocked"))
	})
}
