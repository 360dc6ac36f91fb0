// Elements, made without markup: every text is set as text.

export const $ = id => document.getElementById(id)
export const on = (element, kinds, act, options) => {
	for (const kind of kinds.split(" ")) element.addEventListener(kind, act, options)
}
export const svg = (name, ...rest) =>
	fill(document.createElementNS("http://www.w3.org/2000/svg", name), ...rest)
export const html = (name, ...rest) => fill(document.createElement(name), ...rest)
export const path = kind => svg("path", {class: kind})
export const key = text => html("kbd", {}, text)
export const item = (...children) => html("li", {}, ...children)
export const say = (id, text) => {
	$(id).textContent = text
}

function fill(element, attributes = {}, ...children) {
	element.append(...children)
	return set(element, attributes)
}

export function set(element, attributes) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined) element.removeAttribute(name)
		else element.setAttribute(name, value)
	}
	return element
}

// Set the outline of a path where it is another.
export function draw(element, d) {
	if (element.getAttribute("d") !== d) element.setAttribute("d", d)
}

export function button(act, kind, ...children) {
	const element = html("button", {type: "button", class: kind}, ...children)
	on(element, "click", act)
	return element
}

const pen = document.createElement("canvas").getContext("2d")

// How wide a text is, without a layout.
export function widthOf(text, font) {
	pen.font = font
	return pen.measureText(text).width
}

let odd = false

// Tell a screen reader, politely, and again where the words are the same.
export function announce(text) {
	odd = !odd
	$("live").textContent = odd ? text : `${text}\u00a0`
}
