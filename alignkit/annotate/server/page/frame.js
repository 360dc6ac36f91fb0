// In a lab, give a page of work the head of the lab.
import {slug, tried} from "./manage.js"
import {frame} from "./tabs.js"

if (slug) tried(frame)
