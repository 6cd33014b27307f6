;(async () => {
  // Relative to the page, because a proxy may serve stet below a path.
  const root = new URL('.', document.baseURI)
  const link = (name) => `[${name}](${new URL(name, root)})`
  const response = await fetch(new URL('openapi.json', root))
  if (!response.ok) throw new Error(`openapi.json: ${response.status}`)
  const content = await response.json()
  // Full paths, because readers copy them.
  const prefix = content.servers[0].url
  content.paths = Object.fromEntries(
    Object.entries(content.paths).map(([path, { servers, ...item }]) => [servers ? path : prefix + path, item]),
  )
  content.servers = [{ url: root.href.replace(/\/$/, '') }]
  content.info.description += `\n\nMachine-readable: ${link('openapi.json')}, ${link('llms.txt')}`
  // On a phone, the toggle of the dialog's side bar covers the address.
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('@media (max-width: 600px) { .scalar-sidebar-toggle { display: none } }')
  document.adoptedStyleSheets.push(sheet)
  window.Scalar.createApiReference('#reference', {
    content,
    agent: { disabled: true },
    authentication: { preferredSecurityScheme: 'bearer' },
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    documentDownloadType: 'none',
    hideClientButton: true,
    hiddenClients: {
      ...Object.fromEntries(
        'c clojure csharp dart fsharp go http java julia kotlin node objc ocaml php powershell r ruby rust swift'
          .split(' ')
          .map((language) => [language, true]),
      ),
      js: ['axios', 'jquery', 'ofetch', 'xhr'],
      python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
      shell: ['wget', 'httpie'],
    },
    mcp: { disabled: true },
    persistAuth: false,
    proxyUrl: '',
    showDeveloperTools: 'never',
    telemetry: false,
    withDefaultFonts: false,
  })
})().catch((error) => {
  document.querySelector('#reference').textContent = `The reference cannot be shown: ${error.message}`
})
