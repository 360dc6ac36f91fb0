// Use a link: join, choose a new password, or become the first owner.
import {$, say} from "./dom.js"
import {api, entered, Fault, root, whenSent} from "./manage.js"

const TITLES = {
	first: "Create the first owner",
	invite: "Join the lab",
	reset: "Choose a new password",
}
const token = location.hash.slice(1)

async function look() {
	const {kind, name} = await api("POST", "join/look", {token})
	say("title", TITLES[kind])
	say("go", {reset: "Save", first: "Create"}[kind] ?? "Join")
	Object.assign($("name"), {value: name, readOnly: kind !== "first", required: true})
	$("join").hidden = false
	$(kind === "first" ? "name" : "password").focus()
	whenSent($("join"), async ({name: typed, password, again}) => {
		if (password !== again) throw new Fault({message: "The two passwords differ.", field: "again"})
		entered(await api("POST", "join", {token, password, ...(kind === "first" && {name: typed})}))
		location.replace(root)
	})
}

addEventListener("hashchange", () => location.reload()) // another link in the same tab
look()
	.catch(fault => {
		if (!(fault instanceof Fault)) throw fault
		say(
			"problem",
			fault.status === 410 || fault.status === 422
				? "This link is no longer valid. Ask for a new one."
				: fault.message,
		)
	})
	.finally(() => history.replaceState(null, "", location.pathname))
