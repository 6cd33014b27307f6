import { useState } from 'react'
import { store, stored } from '../../../app/storage.ts'
import { useMedia } from '../../../ui/watched.ts'
import { type PromptTab, promptTabs } from './prompt-tabs.ts'

/** Side by side, the panels as tabs of the text, or everything as tabs. */
export type Layout = 'wide' | 'medium' | 'narrow'
export type PaneName = PromptTab | 'text' | 'tree'

export interface PaneLayout {
  layout: Layout
  tabs: readonly PaneName[]
  /** The tab that is chosen. Panes that are not tabs in this layout are shown beside it. */
  chosen: PaneName
  choose: (name: PaneName) => void
  isTab: (name: PaneName) => boolean
  isShown: (name: PaneName) => boolean
}

interface Address {
  path: string | undefined
  tab: PromptTab | undefined
  onTab: (tab: PromptTab | undefined) => void
}

/** Which panes are shown. Wide screens have text and tree beside the panel, narrow ones have one pane at a time. */
export function usePaneLayout({ path, tab, onTab }: Address): PaneLayout {
  const layout = useLayout()
  // On narrow screens the tree is a tab, but not in the address: leaving the prompt's address would close its text.
  const [treeOver, setTreeOver] = useState<string | null>(null)
  const isTreeOver = layout === 'narrow' && (path === undefined || treeOver === path)
  const beside = layout === 'wide' ? 'run' : 'text'
  const chosen = isTreeOver ? 'tree' : path === undefined ? 'text' : (tab ?? beside)
  const isFull = layout === 'wide' && chosen === 'examples'
  const isTab = (name: PaneName) => layout === 'narrow' || (name !== 'tree' && (layout === 'medium' || name !== 'text'))
  return {
    layout,
    tabs: (['tree', 'text', ...promptTabs] as const).filter(isTab),
    chosen,
    choose(name) {
      setTreeOver(name === 'tree' ? (path ?? null) : null)
      if (name !== 'tree') onTab(name === 'text' ? undefined : name)
    },
    isTab,
    isShown: (name) => name === chosen || (!isTab(name) && !(isFull && name === 'text')),
  }
}

function useLayout(): Layout {
  const isWide = useMedia('(width >= 68.75rem)')
  const isNarrow = useMedia('(width < 45rem)')
  return isWide ? 'wide' : isNarrow ? 'narrow' : 'medium'
}

/** In CSS pixels. */
export interface PaneWidths {
  tree: number
  side: number
}

const storageKey = 'stet.panes'

/** The widths that the user has chosen, kept in this browser. The panel has more room in a wide window. */
export function usePaneWidths(): [PaneWidths, (change: Partial<PaneWidths>) => void] {
  const [widths, setWidths] = useState<PaneWidths>(() => ({
    tree: 264,
    side: Math.round(Math.min(Math.max(424, window.innerWidth * 0.28), 640)),
    ...Object(stored(storageKey)),
  }))
  const keep = (change: Partial<PaneWidths>) => {
    const next = { ...widths, ...change }
    setWidths(next)
    store(storageKey, next)
  }
  return [widths, keep]
}
