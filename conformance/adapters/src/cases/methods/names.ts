/** Methods beside those of routes. */

export const sorted = (allow: string | undefined) => allow?.split(', ').sort()
