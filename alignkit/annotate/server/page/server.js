// @ts-check
// Ask the server, and keep the second secret of the session.
import {API, AT, PROJECT, ROOT, signIn} from "./place.js"

/** @import {Asked, Project, ProgressReport, Reply} from "./types" */

const PATIENCE = 20000 // milliseconds
const PATIENCE_FOR_FILES = 600_000
const PAUSE = 300
const START = `project?at=${AT}`

/**
 * @param {string} method
 * @param {string} path
 * @param {Asked & {csrf?: string, account?: string}} [options]
 * @returns {Promise<Reply>}
 */
async function request(method, path, {body, csrf, account, keepalive, file} = {}) {
	/** @type {Record<string, string>} */
	const headers = {Prefer: "wait=1"}
	if (account) headers["X-Account"] = encodeURIComponent(account)
	if (csrf) headers["X-CSRF-Token"] = csrf
	if (body) headers["Content-Type"] = "application/json"
	try {
		const reply = await fetch(path, {
			method,
			headers,
			keepalive,
			cache: "no-store",
			body: body && JSON.stringify(body),
			signal: AbortSignal.timeout(file ? PATIENCE_FOR_FILES : PATIENCE),
		})
		const {status, ok} = reply
		if (file && ok)
			return {status, body: [await reply.blob(), reply.headers.get("Content-Disposition")]}
		const text = await reply.text()
		return {status, body: text ? JSON.parse(text) : null}
	} catch {
		return {status: 0, body: {message: "The server cannot be reached."}}
	}
}

/**
 * The body of an answer, or an error with its message.
 * @param {Reply} reply
 */
function checked({status, body}) {
	if (status >= 200 && status < 300) return body
	throw new Error(body?.message ?? `The server answered ${status}.`, {cause: body?.error})
}

/**
 * Ask again while the project is being made; `progress` is told how far that is.
 * @param {string} method
 * @param {string} path
 * @param {Parameters<typeof request>[2]} options
 * @param {ProgressReport} [progress]
 */
async function patient(method, path, options, progress) {
	for (;;) {
		const reply = await request(method, path, options)
		if (reply.status !== 503) return reply
		progress?.({text: reply.body?.message ?? "", share: reply.body?.share ?? null, start: null})
		await pause()
	}
}

const pause = () =>
	new Promise(resolve => {
		setTimeout(resolve, PAUSE)
	})

/**
 * The second secret of a project's session (of the newest, where none is named) that this browser
 * keeps: each origin has its own, and another port is another origin.
 * @param {string} [key]
 * @returns {string | undefined}
 */
function kept(key) {
	try {
		return localStorage[`alignkit ${key ?? localStorage.alignkit}`]
	} catch {
		// it keeps nothing
	}
}

/**
 * Keep the second secret of a session that has just begun.
 * @param {{key: string, csrf: string}} session
 */
function keep({key, csrf}) {
	try {
		localStorage[`alignkit ${key}`] = csrf
		localStorage.alignkit = key
	} catch {
		// this tab alone knows it
	}
	return csrf
}

/**
 * What the server tells of the project, with the second secret; entered by the token of the URL, or
 * with the two secrets of an earlier visit.
 *
 * `progress({text, share, start})` is called while the project is being made (start: null), and
 * while suggestions are being made: start() goes on at once without them, for the pairs that are
 * opened meanwhile.
 * @param {{progress?: ProgressReport}} told
 * @returns {Promise<Project>}
 */
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
		progress?.({
			...project.preparing,
			start: () => {
				go = true
			},
		})
		await pause()
		project = checked(await request("GET", API + START, {csrf}))
	}
	project.csrf = csrf
	return project
}

// The server of an open project. It tells that the session has `ended` (the reason), or was
// `renewed` by another tab.
export class Server extends EventTarget {
	/** @param {Project} project */
	constructor(project) {
		super()
		this.project = project
	}

	/**
	 * The body of an answer, or an error with its message.
	 * @param {string} path
	 * @param {boolean} [file]
	 * @param {object} [body] what is sent, by POST
	 */
	async get(path, file, body) {
		return checked(await this.ask(body ? "POST" : "GET", path, {file, body}))
	}

	/**
	 * An answer, whatever it is; where the secret is an old one, that to the new one.
	 * @param {string} method
	 * @param {string} path
	 * @param {Asked} [options]
	 */
	async ask(method, path, options) {
		const ask = () => {
			const {csrf, annotator} = this.project
			return request(method, API + path, {...options, csrf, account: annotator})
		}
		let reply = await ask()
		if (reply.status === 403 && (await this.renew())) reply = await ask()
		if (reply.status === 401) this.#tell("ended", reply.body?.message)
		return reply
	}

	// Take the secret that another tab has kept; true if it is one of this annotator in this project.
	async renew() {
		const csrf = kept(this.project.key) ?? this.project.csrf
		const {status, body} = await request("GET", API + START, {csrf})
		if (status === 0 || status >= 500) return false
		if (body?.box !== this.project.box) {
			this.#tell("ended", body?.message)
			return false
		}
		this.project.csrf = csrf
		this.#tell("renewed")
		return true
	}

	/**
	 * @param {"ended" | "renewed"} type
	 * @param {string} [detail]
	 */
	#tell(type, detail) {
		this.dispatchEvent(new CustomEvent(type, {detail}))
	}
}
