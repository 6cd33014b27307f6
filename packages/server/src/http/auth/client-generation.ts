/** Which published client is calling: the only home of what depends on it (`X-Latitude-SDK-Version`). */
export interface ClientGeneration {
  /** The header is present: strict client models read the answers. */
  declared: boolean
  /** SDK 5.0.x and 5.1.x read the event stream of a background run that asks for one. */
  backgroundStreams: boolean
}

// The longest semver that exists fits easily; the bound keeps the pattern cheap on hostile headers.
const semver = /^(\d{1,9})\.(\d{1,9})\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{0,100})?$/

export function clientGeneration(header: string | undefined): ClientGeneration {
  if (header === undefined) return { declared: false, backgroundStreams: false }
  const [, major, minor] = semver.exec(header.trim()) ?? []
  return { declared: true, backgroundStreams: Number(major) === 5 && (Number(minor) === 0 || Number(minor) === 1) }
}
