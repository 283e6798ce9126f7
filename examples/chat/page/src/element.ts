/** Gives the element of the page that `selector` names. */
export const element = <E extends HTMLElement>(selector: string): E => document.querySelector(selector) as E
