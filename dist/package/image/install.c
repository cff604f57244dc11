/*
 * The one program of the image, which has no shell: copies the image's /opt/trigon into a mounted directory.
 * usage: install DIRECTORY (default: /target)
 *
 * It makes DIRECTORY/VERSION and points DIRECTORY/current at it. Both appear whole: the copy is made under another
 * name, and a job that runs with an older version keeps its folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE "/opt/trigon"

static char copy[PATH_MAX];

static int fails(const char *what, const char *path) {
  (void)fprintf(stderr, "trigon: cannot %s %s: %s\n", what, path, strerror(errno));
  return -1;
}

/* With its time: a JVM refuses its AOT cache beside jars of other times. */
static int copy_file(const char *from, const char *to, const struct stat *entry) {
  mode_t mode = entry->st_mode & 07777;
  struct timespec times[] = {entry->st_mtim, entry->st_mtim};
  int in = open(from, O_RDONLY | O_CLOEXEC);
  int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  char buffer[1 << 16];
  ssize_t got = in >= 0 && out >= 0 ? 1 : -1;
  while (got > 0 && (got = read(in, buffer, sizeof buffer)) > 0) {
    for (ssize_t done = 0, more; done < got; done += more) {
      more = write(out, buffer + done, (size_t)(got - done));
      if (more < 0) {
        return fails("write", to);
      }
    }
  }
  if (got < 0 || fchmod(out, mode) != 0 || futimens(out, times) != 0 || close(out) != 0) {
    return fails("copy to", to);
  }
  (void)close(in);
  return 0;
}

static int copy_link(const char *from, const char *to) {
  char target[PATH_MAX];
  ssize_t length = readlink(from, target, sizeof target - 1);
  if (length < 0) {
    return fails("read", from);
  }
  target[length] = '\0';
  return symlink(target, to) == 0 ? 0 : fails("make", to);
}

static int copy_entry(const char *from, const struct stat *entry, int kind, struct FTW *position) {
  (void)position;
  char to[PATH_MAX];
  if (snprintf(to, sizeof to, "%s%s", copy, from + strlen(SOURCE)) >= (int)sizeof to) {
    errno = ENAMETOOLONG;
    return fails("copy", from);
  }
  switch (kind) {
    case FTW_D:
      return mkdir(to, 0755) == 0 ? 0 : fails("make", to);
    case FTW_SL:
    case FTW_SLN:
      return copy_link(from, to);
    case FTW_F:
      return copy_file(from, to, entry);
    default:
      return fails("read", from);
  }
}

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *position) {
  (void)entry, (void)kind, (void)position;
  return remove(path);
}

static void remove_tree(const char *path) {
  (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static bool read_version(char version[64]) {
  char line[256];
  FILE *release = fopen(SOURCE "/release", "re");
  bool found = false;
  while (release != NULL && !found && fgets(line, sizeof line, release) != NULL) {
    found = sscanf(line, "TRIGON_VERSION=\"%63[^\"]\"", version) == 1;
  }
  if (release != NULL) {
    (void)fclose(release);
  }
  return found;
}

/* Replaces the link in one step: whoever opens it sees the old version or the new one. */
static int point_at(const char *directory, const char *version) {
  char link[PATH_MAX];
  char next[PATH_MAX];
  (void)snprintf(link, sizeof link, "%s/current", directory);
  (void)snprintf(next, sizeof next, "%s/.current.%ld", directory, (long)getpid());
  (void)unlink(next);
  if (symlink(version, next) != 0 || rename(next, link) != 0) {
    return fails("make", link);
  }
  return 0;
}

int main(int count, char **arguments) {
  const char *directory = count > 1 ? arguments[1] : "/target";
  char version[64];
  char place[PATH_MAX];
  struct stat there;
  if (count > 2 || directory[0] == '-') {
    (void)fprintf(stderr, "usage: install [DIRECTORY]\n  copies Trigon to DIRECTORY/VERSION and points "
                          "DIRECTORY/current at it; DIRECTORY is /target without a word\n");
    return 2;
  }
  if (!read_version(version) || strlen(directory) > PATH_MAX / 4) {
    (void)fprintf(stderr, "trigon: no version in " SOURCE "/release, or %s is too long\n", directory);
    return 1;
  }
  if (stat(directory, &there) != 0 || !S_ISDIR(there.st_mode)) {
    (void)fprintf(stderr, "trigon: there is no directory %s: mount one, with docker run -v or a volume\n", directory);
    return 1;
  }
  (void)snprintf(place, sizeof place, "%s/%s", directory, version);
  (void)snprintf(copy, sizeof copy, "%s/.%s.%ld", directory, version, (long)getpid());
  if (lstat(place, &there) != 0) {
    remove_tree(copy);
    bool whole = nftw(SOURCE, copy_entry, 16, FTW_PHYS) == 0 && (rename(copy, place) == 0 || errno == ENOTEMPTY);
    if (!whole) {
      remove_tree(copy);
      (void)fprintf(stderr, "trigon: nothing was installed in %s\n", directory);
      return 1;
    }
  }
  if (point_at(directory, version) != 0) {
    return 1;
  }
  printf("trigon: %s is in %s; set NCCL_NET_PLUGIN=%s/current/lib/libnccl-net-trigon.so\n", version, place, directory);
  return 0;
}
