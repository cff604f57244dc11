#include "calls.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* What a library says of the functions that it calls: see elf(5). */
struct called_functions {
  const ElfW(Rela) *slots;
  size_t count;
  const ElfW(Sym) *symbols;
  const char *names;
};

static struct called_functions functions_called_by(const struct link_map *library) {
  struct called_functions called = {NULL, 0, NULL, NULL};
  for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_JMPREL) {
      called.slots = (const ElfW(Rela) *)entry->d_un.d_ptr;
    } else if (entry->d_tag == DT_PLTRELSZ) {
      called.count = entry->d_un.d_val / sizeof(ElfW(Rela));
    } else if (entry->d_tag == DT_SYMTAB) {
      called.symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
    } else if (entry->d_tag == DT_STRTAB) {
      called.names = (const char *)entry->d_un.d_ptr;
    }
  }
  return called;
}

static uintptr_t slot_of(const struct link_map *library, const char *name) {
  struct called_functions called = functions_called_by(library);
  for (size_t i = 0; called.slots != NULL && i < called.count; i++) {
    const ElfW(Sym) *symbol = &called.symbols[ELF64_R_SYM(called.slots[i].r_info)];
    if (strcmp(called.names + symbol->st_name, name) == 0) {
      return library->l_addr + called.slots[i].r_offset;
    }
  }
  return 0;
}

/*
 * A library's pages that the dynamic linker has made read-only once it had filled the slots: whole pages, so that the
 * page in which that part ends is left writable, as what follows it is data.
 */
struct read_only {
  ElfW(Addr) library;
  uintptr_t page_bytes;
  uintptr_t begin;
  uintptr_t end;
};

static int find_read_only(struct dl_phdr_info *info, size_t size, void *found) {
  struct read_only *pages = found;
  (void)size;
  for (size_t i = 0; info->dlpi_addr == pages->library && i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
      uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      pages->begin = begin & ~(pages->page_bytes - 1);
      pages->end = (begin + info->dlpi_phdr[i].p_memsz) & ~(pages->page_bytes - 1);
    }
  }
  return info->dlpi_addr == pages->library;
}

bool replace_call(void *library, const char *name, void (*replacement)(void)) {
  struct link_map *map = NULL;
  uintptr_t slot = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? slot_of(map, name) : 0;
  if (slot == 0) {
    return false;
  }
  uintptr_t page_bytes = getauxval(AT_PAGESZ); /* the kernel's word: a host may have a sysconf of its own */
  struct read_only pages = {map->l_addr, page_bytes, 0, 0};
  (void)dl_iterate_phdr(find_read_only, &pages);
  bool is_read_only = slot >= pages.begin && slot < pages.end;
  void *page = (void *)(slot & ~(page_bytes - 1));
  if (is_read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  atomic_store((_Atomic(uintptr_t) *)slot, (uintptr_t)replacement); /* other threads may be calling it */
  return !is_read_only || mprotect(page, page_bytes, PROT_READ) == 0;
}
