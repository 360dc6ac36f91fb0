// Where this page is: the path that all URLs of the server begin with, and the project, in a lab.

export const {root: ROOT = "/", project: PROJECT = ""} = document.documentElement.dataset
export const API = PROJECT ? `${ROOT}api/v1/projects/${PROJECT}/` : `${ROOT}api/`

// The URL of a page of the project.
export const page = name => ROOT + (PROJECT ? `p/${PROJECT}/` : "") + name

// What this page shows: one's own work (pairs), decisions (gold), or figures (look).
export const AT =
	{adjudicate: "gold", dashboard: "look"}[location.pathname.split("/").at(-1)] ?? "pairs"

// Go to the page for signing in, and come back.
export const signInUrl = () =>
	`${ROOT}signin?to=${encodeURIComponent(location.pathname + location.search)}`
export const signIn = () => location.replace(signInUrl())
