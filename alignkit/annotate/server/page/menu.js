// A button with a menu: arrows move in it, Escape closes it.
import {button, html, on, set} from "./dom.js"

// `items` are [text, what to do or where to go, kind].
export function menu(name, label, items) {
	const entry = ([text, act, kind = ""]) =>
		set(
			typeof act === "string" ? html("a", {href: act, class: kind}, text) : button(act, kind, text),
			{role: "menuitem", tabindex: -1},
		)
	const list = html("div", {role: "menu", "aria-label": label, hidden: ""}, ...items.map(entry))
	const opener = set(
		button(() => show(list.hidden), "plain", name),
		{"aria-haspopup": "menu", "aria-expanded": "false", "aria-label": label},
	)
	const part = html("span", {class: "menu"}, opener, list)
	const show = open => {
		list.hidden = !open
		opener.setAttribute("aria-expanded", open)
		;(open ? list.firstChild : opener).focus()
	}
	on(part, "keydown", event => {
		const {key} = event
		const all = [...list.children]
		const at = all.indexOf(document.activeElement)
		const step = {ArrowDown: 1, ArrowUp: -1}[key]
		if (list.hidden) {
			if (key !== "ArrowDown") return
			event.preventDefault()
			show(true)
			return
		}
		if (!step && !["Escape", "Home", "End"].includes(key)) return
		event.preventDefault()
		if (key === "Escape") show(false)
		else if (step) all.at((at + step) % all.length).focus()
		else all.at(key === "End" ? -1 : 0).focus()
	})
	on(part, "focusout", ({relatedTarget}) => {
		if (list.hidden || part.contains(relatedTarget)) return
		list.hidden = true
		opener.setAttribute("aria-expanded", "false")
	})
	on(part, "click", event => event.stopPropagation()) // pages of work take the focus back
	// before the item acts: what it asks gives the focus back to the button
	on(list, "click", () => show(false), true)
	return part
}
