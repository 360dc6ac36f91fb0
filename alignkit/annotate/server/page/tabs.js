// The head of a lab's pages: the project, its pages that a role may use, and the menu of the
// account.
import {button, html, on} from "./dom.js"
import {
	announceAccount,
	api,
	below,
	drawnFor,
	Fault,
	listen,
	pageOf,
	root,
	slug,
	tried,
} from "./manage.js"
import {menu} from "./menu.js"

const WORK = {align: "Align", judge: "Judge", extract: "Take pairs"}
const PAGES = {
	dashboard: "Dashboard",
	adjudicate: "Adjudicate",
	assign: "Assignment",
	people: "People",
	export: "Export",
	settings: "Settings",
}
const MAY = {
	owner: Object.keys(PAGES),
	adjudicator: ["dashboard", "adjudicate", "export"],
	annotator: ["export"],
	reader: ["dashboard", "export"],
}

// [page, name] of what somebody may see, in the project or in the lab.
function pages(me, project) {
	if (project) {
		const all = MAY[project.role].map(page => [page, PAGES[page]])
		if (project.annotates) all.unshift([project.task, WORK[project.task]])
		return all
	}
	if (me.rank === "owner")
		return [
			["", "Projects"],
			["people", "People"],
			["log", "Log"],
		]
	const works = !me.may_create && me.roles.every(({role}) => role === "annotator")
	return [["", works ? "My work" : "Projects"]]
}

const brand = () => html("a", {class: "brand", href: root}, "alignkit")
const here = () => location.pathname.slice(pageOf("").length).replace(/^new\/.*/, "")
const link = (page, name) =>
	html("a", {href: pageOf(page), "aria-current": page === here() ? "page" : null}, name)

async function signOut(me) {
	await api("DELETE", "session")
	announceAccount("left", me.account)
	location.assign(`${root}signin`)
}

function accountMenu(me, project, more = []) {
	const own = me.display || me.account
	const name = project ? `${own}, ${project.role}` : own
	return menu(name, `Account: ${name}`, [
		...more,
		["My account", `${root}account`],
		["Sign out", () => tried(() => signOut(me))],
	])
}

function fill(part, me, project) {
	const tabs = html(
		"nav",
		{"aria-label": "Pages"},
		...pages(me, project).map(page => link(...page)),
	)
	part.replaceChildren(brand())
	if (project)
		part.append(html("a", {class: "project", href: pageOf(""), dir: "auto"}, project.name))
	part.append(tabs, accountMenu(me, project))
	part.className = "lab"
	tabs.querySelector("[aria-current]")?.scrollIntoView({block: "nearest", inline: "center"})
}

async function known() {
	const me = await api("GET", "me")
	drawnFor(me.account)
	return [me, slug ? await api("GET", below("")) : null]
}

// Begin a page of managers: `start(me, project)` draws it. Until then it is hidden, for what somebody
// typed or clicked would be lost.
export async function begin(start) {
	const part = document.querySelector("header")
	const main = document.querySelector("main")
	try {
		const [me, project] = await known()
		listen()
		fill(part, me, project)
		if (project && !pages(me, project).some(([page]) => page === here()))
			throw new Fault({message: "Not found."}, 404)
		if (project) document.title = `${project.name}: ${document.title}`
		for (const hidden of document.querySelectorAll("main, footer")) hidden.hidden = false
		await start(me, project)
	} catch (fault) {
		if (!(fault instanceof Fault)) throw fault
		document.title = fault.status === 404 ? "Not found" : "alignkit"
		main.replaceChildren(
			html(
				"section",
				{},
				html("h1", {}, fault.status === 404 ? "Not found." : fault.message),
				fault.status === 404
					? html("p", {}, html("a", {href: root}, "To your projects"))
					: button(() => location.reload(), "", "Try again"),
			),
		)
		main.hidden = false
	}
}

// Load again when the page is seen again.
export const seenAgain = load =>
	on(document, "visibilitychange", () => {
		if (document.visibilityState === "visible") load().catch(() => {})
	})

// Give the pages of work the same head: tabs above the dashboard; where pairs need the room, in the
// menu.
export async function frame() {
	const [me, project] = await known()
	const old = document.querySelector("header")
	document.body.classList.add("framed")
	if (old.querySelector("nav")) {
		old.querySelector(".brand").replaceWith(brand())
		const more = pages(me, project)
			.filter(([page]) => page !== here())
			.map(([page, name]) => [name, pageOf(page)])
		return old.append(accountMenu(me, project, [["Projects", root], ...more]))
	}
	const part = html("header", {class: "lab"})
	old.before(part)
	document.querySelector("main").prepend(old)
	fill(part, me, project)
}
