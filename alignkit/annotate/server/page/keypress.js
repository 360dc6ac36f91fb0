// What a key press means: its letter, its digit or its action; and which places take keys as text.
import {on} from "./dom.js"

// What the keys of a table do, by key.
export const mapped = table =>
	new Map(
		Object.values(table)
			.flat()
			.flatMap(([keys, action]) =>
				(keys === " " ? [keys] : keys.split(" ")).map(key => [key, action]),
			),
	)

// The letter of a key press in small letters, by place for scripts that have others; else "".
export function letterOf(event) {
	if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return ""
	const letter = /^[a-z]$/i.test(event.key) ? event.key : byCode(event)
	return /^[a-z]$/i.test(letter) ? letter.toLowerCase() : ""
}

// The keys of a US keyboard by place, for scripts that do not have them.
function byCode({code, shiftKey}) {
	if (/^Key[A-Z]$/.test(code)) return shiftKey ? code[3] : code[3].toLowerCase()
	if (code === "Slash") return shiftKey ? "?" : "/"
	return ""
}

// The digit of a key by its place, as other signs stand there on some keyboards; else "".
export const digitOf = ({code}) => /^Digit(\d)$/.exec(code)?.[1] ?? ""

// The action of a key press, or null. Nothing with Alt or AltGr.
export function actionOf(event, actions) {
	if (event.altKey || event.isComposing || event.getModifierState?.("AltGraph")) return null
	const control = event.ctrlKey || event.metaKey
	let {key} = event
	const digit = actions.has("Digit") && !control && digitOf(event)
	if (digit === "0" && !event.shiftKey) key = "0"
	else if (digit > 0) return actions.get(event.shiftKey ? "S-Digit" : "Digit")
	// In Cyrillic the key of / gives a full stop, with Shift a comma.
	if (
		!/^([ -~]$|Arrow|Enter|Back|Delete|Escape|Tab)/.test(key) ||
		(/^[.,]$/.test(key) && event.code === "Slash")
	)
		key = byCode(event) || key
	if (key.length === 1 && event.getModifierState?.("CapsLock"))
		key = event.shiftKey ? key.toUpperCase() : key.toLowerCase()
	const named = key.length > 1
	return (
		actions.get(
			(control ? "C-" : "") +
				(named && event.shiftKey ? "S-" : "") +
				key.replace(/^Arrow.*/, "Arrow"),
		) || null
	)
}

// Does this key press act on what has the focus by itself?
export function typing(target) {
	return target.closest?.("input, textarea, select, button, a, dialog, summary")
}

// Is this a place for text, or a list?
export function writing(target) {
	return target.closest?.("textarea, select, input:not([type=radio], [type=checkbox])")
}

// Have a comment field written down: Enter keeps it and leaves, Escape keeps it.
export function onComment(field, keep, leave) {
	on(field, "change", keep)
	on(field, "keydown", event => {
		if (event.key === "Escape") keep()
		if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
		event.preventDefault()
		keep()
		leave()
	})
}
