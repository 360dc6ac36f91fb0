// Names of people: one to show, which is any text, and one for the account, made from it.
import {html} from "./dom.js"

const LONGEST = 40
const LATIN = {ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i"}

// The name of an account for "Anna Kiss" or "Jürgen": anna-kiss, jurgen; empty if no letter of the
// name is a Latin one. The name of an account stays as it is.
export const accountName = text =>
	text
		.toLowerCase()
		.replace(/[ßæœøłđðþı]/g, letter => LATIN[letter])
		.normalize("NFKD")
		.replace(/\p{M}/gu, "")
		.trim()
		.replace(/[\s'’]+/g, "-")
		.replace(/[^a-z0-9._-]/g, "")
		.replace(/-{2,}/g, "-")
		.replace(/^[._-]+/, "")
		.slice(0, LONGEST)
		.replace(/-+$/, "")

// Propose the name of an account while another is typed, until it is changed by hand.
export function propose(display, name) {
	let proposed = name.value
	display.addEventListener("input", () => {
		if (name.value !== proposed) return
		proposed = accountName(display.value)
		name.value = proposed
	})
}

// A person in a table: the name to show, with that of the account.
export const shown = ({name, display}) =>
	display ? [display, html("small", {dir: "ltr"}, name)] : [name]

// A person in a sentence or a choice.
export const called = ({name, display}) => (display ? `${display} (${name})` : name)
