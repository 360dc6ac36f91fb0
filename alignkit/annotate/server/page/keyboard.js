// How keys are read.
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

// The keys of a US keyboard by place, for scripts that do not have them.
function byCode({code, shiftKey}) {
	if (/^Key[A-Z]$/.test(code)) return shiftKey ? code[3] : code[3].toLowerCase()
	if (code === "Slash") return shiftKey ? "?" : "/"
	return ""
}

// The action of a key press, or null. Nothing with Alt or AltGr.
export function actionOf(event, actions) {
	if (event.altKey || event.isComposing || event.getModifierState?.("AltGraph")) return null
	const control = event.ctrlKey || event.metaKey
	let {key} = event
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
