// @ts-check
// Keep the events that the server has not yet acknowledged: in IndexedDB, in the order in which
// they were made, shared by the tabs of one annotator; in memory where there is no IndexedDB.

/** @import {Entry} from "./types" */

const STORE = "events"

// Only the queue uses it.
export class Outbox {
	/** @type {IDBDatabase | null} */
	#database = null // null: all is kept in memory
	/** @type {Entry[]} */
	#memory = [] // what IndexedDB did not take
	/** @type {Map<string, {entry: Entry, stored: boolean}>} */
	#mine = new Map() // what this tab added, to be at hand when it is hidden

	/**
	 * The name holds project and annotator: another login never sends what waits here.
	 * @param {string} name
	 */
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

	/** @param {Entry} entry */
	async add(entry) {
		const kept = {entry, stored: false}
		this.#mine.set(entry.event.id, kept)
		try {
			const database = this.#database
			// in order: no later one overtakes
			if (!database || !this.lasting) throw new Error("kept in memory")
			await change(database, store => {
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
			const all = [...(await readAll(this.#database)), ...this.#memory]
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

	/**
	 * Take events out, by id; return the ids that were there. Of two tabs only one gets each.
	 * @param {string[]} ids
	 */
	async remove(ids) {
		const wanted = new Set(ids)
		/** @type {Set<string>} */
		const removed = new Set()
		const kept = []
		for (const entry of this.#memory) {
			if (wanted.has(entry.event.id)) removed.add(entry.event.id)
			else kept.push(entry)
		}
		this.#memory = kept
		for (const id of wanted) this.#mine.delete(id)
		try {
			if (this.#database) await change(this.#database, store => take(store, wanted, removed))
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
}

/**
 * Change the store, completely or not at all.
 * @param {IDBDatabase} database
 * @param {(store: IDBObjectStore) => void} act
 * @returns {Promise<void>}
 */
function change(database, act) {
	return new Promise((resolve, reject) => {
		const transaction = database.transaction(STORE, "readwrite")
		const failed = () => reject(transaction.error)
		transaction.oncomplete = () => resolve()
		transaction.onabort = failed
		transaction.onerror = failed
		act(transaction.objectStore(STORE))
	})
}

/**
 * @param {IDBDatabase} database
 * @returns {Promise<Entry[]>}
 */
function readAll(database) {
	return new Promise((resolve, reject) => {
		const asked = database.transaction(STORE).objectStore(STORE).getAll()
		asked.onsuccess = () => resolve(asked.result)
		asked.onerror = () => reject(asked.error)
	})
}

/**
 * Take events out of the store, and note which were there.
 * @param {IDBObjectStore} store
 * @param {Set<string>} wanted
 * @param {Set<string>} removed
 */
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

/**
 * @param {string} name
 * @returns {Promise<IDBDatabase>}
 */
function opened(name) {
	return new Promise((resolve, reject) => {
		const asked = indexedDB.open(name, 1)
		const failed = () => reject(asked.error ?? new Error("blocked"))
		asked.onupgradeneeded = () => {
			const store = asked.result.createObjectStore(STORE, {autoIncrement: true})
			store.createIndex("id", "event.id")
		}
		asked.onsuccess = () => resolve(asked.result)
		asked.onerror = failed
		asked.onblocked = failed
	})
}
