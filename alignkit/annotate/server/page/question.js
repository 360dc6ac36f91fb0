// The question of two tabs, beside a cell.
import {$, announce} from "./dom.js"

export function show(id) {
	if (!$(id).open) $(id).showModal()
}

// Drop the question, where another pair is opened.
export const dismiss = () => $("conflict").onclick?.({target: $("conflict")})

// Ask beside a cell; true where this is to be kept, false where that of the other tab, or where
// there is no choice.
export function question(cell, text, choice) {
	const part = $("conflict")
	const {left, top, bottom} = cell.getBoundingClientRect()
	const move = (side, value) => part.style.setProperty(side, `${Math.max(8, value)}px`)
	$("conflict-text").textContent = text
	$("keep-this").hidden = !choice
	$("keep-that").textContent = choice ? "Keep that" : "Dismiss"
	part.hidden = false
	part.onkeydown = ({key: name}) => {
		if (name === "Escape" && !choice) $("keep-that").click()
	}
	move("left", Math.min(left, innerWidth - 340))
	move("top", bottom + 140 > innerHeight ? top - 130 : bottom + 8)
	// It has no default: a key that was on its way chooses nothing, and typing goes on.
	announce(text)
	if (!document.activeElement?.matches("textarea, input")) part.focus()
	return new Promise(answer => {
		for (const id of ["keep-that", "keep-this", "conflict"])
			$(id).onclick = ({target}) => {
				if (target.id !== id) return
				part.hidden = true
				answer({"keep-that": false, "keep-this": true}[id]) // undefined where another pair is opened meanwhile
			}
	})
}
