/** Links of pages that are hinted at. */
export const style = '</a.css>; rel=preload; as=style'
export const font = '</b.woff2>; rel=preload; as=font; title="two words"'
