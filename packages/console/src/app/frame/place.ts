import type { Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type LastPlace, preferences, type Recent, setPreferences, usePreferences } from '../preferences.ts'
import { deletedDraftQuery, versionQuery, versionsQuery } from '../queries.ts'
import { isMissing, useSession } from '../session.ts'

/** The project of the address, or the one that was open last. Null if there is neither. */
export function useProjectId(): number | null {
  const { project } = useParams({ strict: false })
  const last = useLastPlace()
  return projectIdOf(project ?? last?.project ?? null)
}

/** Where the person of this session was last in this browser. */
export function useLastPlace(): LastPlace | undefined {
  const { author } = useSession().apiKey
  return usePreferences().places[author.id]
}

/** Parses the id of a project. Returns null if the text is not one. */
export function projectIdOf(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}

/** Whether the server has no such project. False while that is loading. */
export function useIsUnknownProject(projectId: number | null): boolean {
  const { data, error } = useQuery({ ...versionsQuery(projectId ?? 0), enabled: projectId !== null })
  return projectId === null || (data === undefined && isMissing(error))
}

/** Whether the project has no such version. The server is asked, because the list may not have a new draft yet. */
export function useIsUnknownVersion(projectId: number, version: string): boolean {
  const { data } = useQuery(versionsQuery(projectId))
  const isListed = version === 'live' || !data || data.some(({ uuid }) => uuid === version)
  const { error } = useQuery({ ...versionQuery(projectId, version), enabled: !isListed })
  return !isListed && isMissing(error)
}

/** The draft of an unknown version's address, if it was deleted and can be restored. */
export function useDeletedDraft(projectId: number, version: string, isUnknown: boolean) {
  return useQuery({ ...deletedDraftQuery(projectId, version), enabled: isUnknown })
}

/** The draft of the address. */
export function useOpenDraft(): Version | undefined {
  const projectId = useProjectId()
  const { version } = useParams({ strict: false })
  const { data } = useQuery({ ...versionsQuery(projectId ?? 0), enabled: projectId !== null })
  return data?.find(({ uuid, status }) => uuid === version && status === 'draft')
}

/**
 * The version of the address, `live` or a uuid. Where the address names none, the draft that was open last, or live.
 */
export function useVersion(): string {
  const { version } = useParams({ strict: false })
  const last = useLastVersion(useProjectId())
  return version ?? last ?? 'live'
}

/** The draft that was open last, or live if it was published or deleted since. Undefined while that is loading. */
export function useLastVersion(projectId: number | null): string | undefined {
  const last = useLastPlace()?.version ?? 'live'
  const isKnown = last === 'live' || projectId === null
  const { data, isLoading } = useQuery({ ...versionsQuery(projectId ?? 0), enabled: !isKnown })
  if (isLoading) return undefined
  return data?.some(({ uuid, status }) => uuid === last && status === 'draft') ? last : 'live'
}

/** The prompts and runs that the person of this session opened in this browser, newest first. */
export function useRecents(): readonly Recent[] {
  const { author } = useSession().apiKey
  return usePreferences().recents[author.id] ?? []
}

const mostRecents = 12

/** Keeps the prompt or run of the address. The shell calls this once. */
export function useKeptRecents(): void {
  const { project, version, _splat: path, run } = useParams({ strict: false })
  const { id } = useSession().apiKey.author
  useEffect(() => {
    const opened: Recent | null = run ? { run } : project && version && path ? { project, version, path } : null
    if (!opened) return
    const { recents } = preferences()
    const others = (recents[id] ?? []).filter((other) => keyOf(other) !== keyOf(opened))
    setPreferences({ recents: { ...recents, [id]: [opened, ...others].slice(0, mostRecents) } })
  }, [project, version, path, run, id])
}

/** A prompt is the same one in every version. */
export function keyOf(recent: Recent): string {
  return 'run' in recent ? recent.run : `${recent.project} ${recent.path}`
}
