// Sign in, and go to the page that sent here.
import {$} from "./dom.js"
import {api, entered, Fault, question, root, whenSent} from "./manage.js"
import {accountName} from "./names.js"

// A page of our own, or the projects.
function target() {
	const url = new URL(new URLSearchParams(location.search).get("to") ?? root, location.origin)
	// a path such as //evil.example would be another site
	return url.origin === location.origin && url.pathname.startsWith(root) ? url.href : root
}

async function enter(values) {
	entered(await api("POST", "session", values))
	location.replace(target())
}

whenSent($("signin"), async ({name, password}) => {
	// who is shown as "Anna Kiss" may type this
	const values = {name: accountName(name) || name, password}
	try {
		await enter(values)
	} catch (fault) {
		if (!(fault instanceof Fault) || fault.error !== "taken") throw fault
		const who = fault.message.split(" ")[0]
		await question({
			title: fault.message,
			text: "Unsent edits are kept in this browser.",
			yes: `Sign ${who} out`,
			act: () => enter({...values, take_over: true}),
		})
	}
})
