/** The prompts and runs that the person of this session opened in this browser. */
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { preferences, type Recent, setPreferences, usePreferences } from './preferences.ts'
import { useSession } from './session.ts'

const mostKept = 12

/** Newest first. */
export function useRecents(): readonly Recent[] {
  const { author } = useSession().apiKey
  return usePreferences().recents[author.id] ?? []
}

/** Keeps what the address names. The shell calls this once. */
export function useKeptRecents(): void {
  const { project, version, _splat: path, run } = useParams({ strict: false })
  const { id } = useSession().apiKey.author
  useEffect(() => {
    const opened: Recent | null = run ? { run } : project && version && path ? { project, version, path } : null
    if (!opened) return
    const { recents } = preferences()
    const others = (recents[id] ?? []).filter((other) => keyOf(other) !== keyOf(opened))
    setPreferences({ recents: { ...recents, [id]: [opened, ...others].slice(0, mostKept) } })
  }, [project, version, path, run, id])
}

/** A prompt is the same one in every version. */
export function keyOf(recent: Recent): string {
  return 'run' in recent ? recent.run : `${recent.project} ${recent.path}`
}
