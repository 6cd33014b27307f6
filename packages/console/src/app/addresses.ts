/** Addresses of screens, for links and for `navigate`. A version is `live` or a uuid. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export function toPrompts(projectId: number | string, version: string) {
  return { to: '/p/$project/v/$version/prompts', params: { project: String(projectId), version } } as const
}

export function toPrompt(projectId: number | string, version: string, path: string) {
  const params = { project: String(projectId), version, _splat: path }
  return { to: '/p/$project/v/$version/prompts/$', params } as const
}

export function toChanges(projectId: number | string, version: string) {
  return { to: '/p/$project/v/$version/changes', params: { project: String(projectId), version } } as const
}

/** @param entry a uuid, or `<uuid>@<revision>` */
export function toEntry(projectId: number | string, entry: string) {
  return { to: '/p/$project/history/$entry', params: { project: String(projectId), entry } } as const
}

type Search = ReturnType<typeof useAnySearch>
const useAnySearch = () => useSearch({ strict: false })

/** Changes what the address of the screen says after its path. An undefined value removes its key. */
export function useSetSearch() {
  const navigate = useNavigate()
  return useCallback(
    (change: { [Key in keyof Search]?: Search[Key] | undefined }, isNewPlace = false) => {
      const search = (old: Search) => ({ ...old, ...change }) as Search
      void navigate({ to: '.', search, replace: !isNewPlace })
    },
    [navigate],
  )
}
