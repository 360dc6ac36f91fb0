// What the pages of a lab share: requests, toasts, questions, forms, tables and times.
import {$, button, html, on, set} from "./dom.js"
import {PROJECT as slug, ROOT as root, signIn, signInUrl} from "./place.js"

export {root, slug}
export const AWAY = "Offline. Nothing was changed."
export const pageOf = (page, of = slug) => root + (of ? `p/${of}/` : "") + page
export const below = path => `projects/${slug}${path && "/"}${path}`
export const plural = (count, noun, many = `${noun}s`) =>
	`${count.toLocaleString("en")} ${count === 1 ? noun : many}`

const PATIENCE = 60000
const SHOWN = 10
const OUT = ["signin", "closed", "taken", "csrf"]
let account = "" // whom the page was drawn for

// Requests

// What went wrong, in words for people; `field` is that of a form.
export class Fault extends Error {
	constructor({message, error = "", field = ""}, status = 0) {
		super(message)
		Object.assign(this, {error, field, status})
	}
}

// The fault of an answer, which may be that of a proxy.
export function faultOf(status, text) {
	try {
		return new Fault(JSON.parse(text), status)
	} catch {
		return new Fault(
			{message: status < 500 ? `The server answered ${status}. Nothing was changed.` : AWAY},
			status,
		)
	}
}

export const drawnFor = name => {
	account = name
}

// What each request carries: the second secret, and whom the page was drawn for.
export function headers(more = {}) {
	const all = {
		"x-csrf-token": localStorage[`alignkit ${localStorage.alignkit}`],
		"x-account": account,
		...more,
	}
	return Object.fromEntries(Object.entries(all).filter(([, value]) => value))
}

// Ask the server; the answer is a Response, whose body may be long.
export async function ask(method, path, body, signal) {
	const options = {
		method,
		headers: headers(body && {"content-type": "application/json"}),
		body: body && JSON.stringify(body),
		signal,
	}
	let response
	try {
		response = await fetch(`${root}api/v1/${path}`, {...options, cache: "no-store"})
	} catch {
		throw new Fault({error: "offline", message: AWAY})
	}
	if (response.ok) return response
	const {status} = response
	const fault = faultOf(status, await response.text())
	if (status === 403 && fault.error === "prove") {
		if (!(await proved())) throw new Fault({error: "cancelled", message: "Nothing was changed."})
		return ask(method, path, body, signal)
	}
	if ((status === 401 || status === 403) && OUT.includes(fault.error)) return leave(fault)
	throw fault
}

export async function api(method, path, body) {
	const text = await (await ask(method, path, body, AbortSignal.timeout(PATIENCE))).text()
	return text ? JSON.parse(text) : null
}

const proved = () =>
	question({
		title: "Your password, please",
		text: "This needs the password that you signed in with.",
		label: "Password",
		type: "password",
		yes: "Continue",
		act: password => api("POST", "prove", {password}),
	})

// The page is of no more use: nothing after it goes on.
function leave({error, message}) {
	if (error === "closed" || error === "taken") stopped(message)
	else signIn()
	return new Promise(() => {})
}

export function stopped(message) {
	if ($("stopped")) return
	const link = html("a", {class: "button main", href: signInUrl()}, "Sign in")
	const dialog = html(
		"dialog",
		{id: "stopped", "aria-label": "Signed out"},
		html("p", {}, message),
		html("p", {class: "ends"}, link),
	)
	on(dialog, "cancel", event => event.preventDefault())
	document.body.append(dialog)
	dialog.showModal()
}

// Keep the second secret, and tell the other tabs who is here now.
export function entered({csrf, lab, account: name}) {
	localStorage[`alignkit ${lab}`] = csrf
	localStorage.alignkit = lab
	announceAccount("entered", name)
}

const channel = () => new BroadcastChannel(`alignkit ${localStorage.alignkit}`)

export function announceAccount(kind, name) {
	const to = channel()
	to.postMessage({kind, account: name, at: new Date().toISOString()})
	to.close()
}

export function listen() {
	channel().onmessage = ({data: {kind, account: name, at}}) => {
		if (kind === "entered" && name !== account)
			stopped(`${name} signed in here at ${clock(new Date(at))}. Sign in as ${account} to go on.`)
	}
}

// Save what a path answers; `progress` gets the bytes that have come.
export async function download(path, progress = () => {}) {
	const response = await ask("GET", path)
	const parts = []
	const reader = response.body.getReader()
	let bytes = 0
	try {
		for (let part = await reader.read(); !part.done; part = await reader.read()) {
			parts.push(part.value)
			bytes += part.value.length
			progress(bytes)
		}
	} catch {
		throw new Fault({error: "offline", message: "The connection was lost. Nothing was saved."})
	}
	const href = URL.createObjectURL(new Blob(parts))
	const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition"))?.[1]
	Object.assign(document.createElement("a"), {href, download: name ?? "download"}).click()
	setTimeout(() => URL.revokeObjectURL(href), PATIENCE)
}

// Toasts and questions

const shelf = html("div", {id: "toast", role: "status"})
document.body.append(shelf)
let timer = 0

// Say what was done, for 10 s, longer while it has focus or the pointer; `undo` is the opposite
// request.
export function toast(text, undo) {
	const from = document.activeElement
	const hide = () => {
		clearInterval(timer)
		if (shelf.contains(document.activeElement)) from?.focus?.()
		shelf.replaceChildren()
	}
	let left = SHOWN
	clearInterval(timer)
	timer = setInterval(() => {
		if (shelf.matches(":hover, :focus-within")) return
		left -= 1
		if (left <= 0) hide()
	}, 1000)
	const back = async () => {
		hide()
		await undo()
		toast("Undone.")
	}
	shelf.replaceChildren(html("span", {}, text))
	if (undo) shelf.append(button(() => tried(back), "", "Undo"))
}

// Do something, and say why it fails; `again` draws what is true.
export async function tried(act, again) {
	try {
		return await act()
	} catch (fault) {
		if (!(fault instanceof Fault)) throw fault
		toast(fault.message)
		await again?.()
	}
}

// Ask what has no opposite; gives what was typed (or true) once `act` is done, else null. `must`
// has to be typed.
export function question({
	title,
	text = "",
	more = [],
	label,
	type = "text",
	must,
	yes,
	bad,
	act = () => {},
}) {
	const field =
		label &&
		html("input", {
			id: "answer",
			name: "answer",
			type,
			required: "",
			autocomplete: type === "password" ? "current-password" : "off",
		})
	const go = html("button", {class: bad ? "danger" : "main"}, yes)
	const cancel = button(() => dialog.close(), "", "Cancel")
	const form = html(
		"form",
		{},
		html("h2", {}, title),
		html("p", {}, text),
		...more,
		field ? html("div", {class: "field"}, html("label", {for: "answer"}, label), field) : "",
		html("p", {class: "ends"}, cancel, go),
	)
	const dialog = html("dialog", {"aria-label": title}, form)
	let answer = null
	if (must) {
		go.disabled = true
		on(field, "input", () => {
			go.disabled = field.value !== must
		})
	}
	whenSent(form, async values => {
		await act(values.answer)
		answer = values.answer ?? true
		dialog.close()
	})
	document.body.append(dialog)
	dialog.showModal()
	;(field ?? go).focus()
	return new Promise(resolve =>
		on(dialog, "close", () => {
			dialog.remove()
			resolve(answer)
		}),
	)
}

// Forms

// Call `act(values)` when a form is sent; what is wrong stands under its field, and the first has
// the focus.
export function whenSent(form, act) {
	form.noValidate = true
	on(form, "submit", async event => {
		event.preventDefault()
		if (form.dataset.busy) return
		for (const part of form.querySelectorAll(".fault")) part.remove()
		for (const field of form.querySelectorAll("[aria-invalid]")) {
			set(field, {"aria-invalid": null, "aria-describedby": null})
		}
		const wrong = [...form.elements].filter(field => !field.disabled && !field.checkValidity())
		for (const field of wrong) blame(form, field, field.dataset.need ?? "Fill in this field.")
		if (wrong.length) return wrong[0].focus()
		form.dataset.busy = "true"
		try {
			await act(Object.fromEntries(new FormData(form)))
		} catch (fault) {
			if (!(fault instanceof Fault)) throw fault
			const at = fault.field ? form.elements[fault.field] : null
			const field = at?.tagName ? at : at?.[0]
			blame(form, field, fault.message)
			field?.focus?.()
		} finally {
			delete form.dataset.busy
		}
	})
}

function blame(form, field, text) {
	const note = html(
		"p",
		{class: "bad fault", id: `fault-${field?.id || "form"}`, role: field ? null : "alert"},
		text,
	)
	if (field) set(field, {"aria-invalid": "true", "aria-describedby": note.id})
	const part = field?.closest(".field")
	if (part) return part.append(note)
	form.insertBefore(note, form.querySelector(":scope > .ends"))
}

// Choose among options that are [value, name]; a choice of one's own comes with `chosen`.
export function choice(label, options, value, chosen) {
	const part = html(
		"select",
		{"aria-label": label},
		...options.map(([key, name]) => html("option", {value: key}, name)),
	)
	part.value = value
	on(part, "change", () => chosen(part.value, part))
	return part
}

export function tick(label, checked, chosen, about = label) {
	const box = Object.assign(html("input", {type: "checkbox", "aria-label": about}), {checked})
	on(box, "change", () => chosen(box.checked))
	return html("label", {class: "tick"}, box, label)
}

// Show a secret once, to be copied.
export function once(part, text, note) {
	const field = html("input", {readonly: "", value: text, "aria-label": "Copy this now"})
	const copy = button(
		async () => {
			field.select()
			;(await navigator.clipboard?.writeText(text).catch(() => {})) ?? document.execCommand("copy")
			toast("Copied.")
		},
		"main",
		"Copy",
	)
	part.replaceChildren(html("p", {class: "row"}, field, copy), html("p", {class: "quiet"}, note))
	part.hidden = false
	copy.focus()
}

// Tables

export const cell = (...parts) => html("td", {}, ...parts)
export const head = (...parts) => html("th", {scope: "row", dir: "auto"}, ...parts)
const CONTROLS = "button, a, input, select"

// Draw rows, those anew that have changed (or all); the focus stays at its place in a row.
export function rows(body, items, make, key = "name", anew = false) {
	const old = new Map([...body.children].map(row => [row.dataset.key, row]))
	const names = [...body.closest("table").tHead.rows[0].cells].map(name => name.textContent)
	let next = body.firstElementChild
	for (const item of items) {
		const tag = JSON.stringify(item)
		const before = old.get(String(item[key]))
		let row = before
		if (anew || before?.dataset.tag !== tag) {
			row = set(html("tr", {}, ...make(item)), {"data-key": item[key], "data-tag": tag})
			for (const [place, part] of [...row.cells].entries()) {
				set(part, {"data-name": names[place] || null})
			}
			const at = before
				? [...before.querySelectorAll(CONTROLS)].indexOf(document.activeElement)
				: -1
			before?.replaceWith(row)
			if (before === next) next = row
			if (at >= 0) row.querySelectorAll(CONTROLS)[at]?.focus()
		}
		if (row === next) next = next.nextElementSibling
		else body.insertBefore(row, next)
		old.delete(String(item[key]))
	}
	for (const row of old.values()) row.remove()
}

// A table of what `get` answers: load it, draw it again after a refusal, put a row that was
// changed.
export function table(body, get, make) {
	let items = []
	const draw = (now, anew) => {
		items = now
		return rows(body, items, make, "name", anew)
	}
	return {
		load: async () => draw(await get()),
		again: async () => draw(await get().catch(() => items), true),
		put: now => draw(items.map(item => (item.name === now.name ? now : item))),
	}
}

export const bar = (done, all, label) =>
	html("progress", {value: done, max: Math.max(all, 1), "aria-label": label})

// Times and sizes

const DAY = 864e5
const clock = at => at.toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"})

export function date(iso) {
	const at = new Date(iso)
	const year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric"
	return at.toLocaleDateString("en-GB", {day: "numeric", month: "long", year})
}

// "now", "4 minutes ago", "today, 11:20", "yesterday", "Friday", "12 November"
function ago(at, now = new Date()) {
	const minutes = Math.floor((now - at) / 60000)
	const days = Math.round(
		(new Date(now).setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / DAY,
	)
	if (minutes < 2) return "now"
	if (minutes < 60) return `${minutes} minutes ago`
	if (days < 2) return days ? "yesterday" : `today, ${clock(at)}`
	return days < 7 ? at.toLocaleDateString("en-GB", {weekday: "long"}) : date(at)
}

export const when = iso =>
	iso
		? html(
				"time",
				{datetime: iso, title: new Date(iso).toLocaleString("en-GB")},
				ago(new Date(iso)),
			)
		: "never"
export const size = bytes =>
	bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
