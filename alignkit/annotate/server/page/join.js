// Use a link: join, choose a new password, or become the first owner.
import {$, say} from "./dom.js"
import {api, entered, Fault, root, whenSent} from "./manage.js"
import {propose} from "./names.js"

const TITLES = {
	first: "Create the first owner",
	invite: "Join the lab",
	reset: "Choose a new password",
}
const token = location.hash.slice(1)

async function look() {
	const {kind, name, display} = await api("POST", "join/look", {token})
	say("title", TITLES[kind])
	say("go", {reset: "Save", first: "Create"}[kind] ?? "Join")
	Object.assign($("name"), {value: name, readOnly: kind !== "first", required: true})
	$("display").value = display
	if (kind === "first") propose($("display"), $("name"))
	$("join").hidden = false
	$(kind === "first" ? "display" : "password").focus()
	whenSent($("join"), async ({display: shown, name: typed, password, again}) => {
		if (password !== again) throw new Fault({message: "The two passwords differ.", field: "again"})
		const first = kind === "first" && {name: typed}
		entered(await api("POST", "join", {token, password, display: shown, ...first}))
		location.replace(root)
	})
}

addEventListener("hashchange", () => location.reload()) // another link in the same tab
look()
	.catch(fault => {
		if (!(fault instanceof Fault)) throw fault
		say(
			"problem",
			fault.status === 422
				? "This link is not complete. Copy all of it, or ask for a new one."
				: fault.message,
		)
	})
	.finally(() => history.replaceState(null, "", location.pathname))
