/* Shows the document that the page names. Nothing is loaded from anywhere else, and nothing is reported. */
const place = document.querySelector('#reference')

globalThis.Scalar.createApiReference(place, {
  url: new URL(place.dataset.document, location.href).href,
  // Requests go straight to the API, not through a service of the page's makers.
  proxyUrl: '',
  // Without servers in the document the API is where the page is, with what a proxy has in front of both.
  ...(place.dataset.root === undefined
    ? {}
    : { servers: [{ url: new URL(place.dataset.root, location.href).href.replace(/\/$/, '') }] }),
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // Credentials stay in the tab's memory.
  persistAuth: false,
})
