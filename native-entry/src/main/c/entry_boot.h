/*
 * From a JVM to a filled table of calls: finds trigon.entry.PluginEntry and calls its boot. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_BOOT_H
#define TRIGON_ENTRY_BOOT_H

#include "entry_jvm.h"

/* Fails with the text of the pending exception. */
static bool fails_with_exception(JNIEnv *env, const char *what) {
  jthrowable thrown = (*env)->ExceptionOccurred(env);
  (*env)->ExceptionClear(env);
  const char *text = NULL;
  jstring string = NULL;
  if (thrown != NULL) {
    jclass object = (*env)->FindClass(env, "java/lang/Object");
    jmethodID to_string = (*env)->GetMethodID(env, object, "toString", "()Ljava/lang/String;");
    string = (jstring)(*env)->CallObjectMethod(env, thrown, to_string);
    (*env)->ExceptionClear(env);
    text = string == NULL ? NULL : (*env)->GetStringUTFChars(env, string, NULL);
  }
  (void)start_fails("%s: %s", what, text == NULL ? "no reason given" : text);
  if (text != NULL) {
    (*env)->ReleaseStringUTFChars(env, string, text);
  }
  return false;
}

/* new File(path).toURI().toURL() */
static jobject url_of(JNIEnv *env, const char *path) {
  jclass file = (*env)->FindClass(env, "java/io/File");
  jclass uri = (*env)->FindClass(env, "java/net/URI");
  jmethodID new_file = (*env)->GetMethodID(env, file, "<init>", "(Ljava/lang/String;)V");
  jmethodID to_uri = (*env)->GetMethodID(env, file, "toURI", "()Ljava/net/URI;");
  jmethodID to_url = (*env)->GetMethodID(env, uri, "toURL", "()Ljava/net/URL;");
  jobject opened = (*env)->NewObject(env, file, new_file, (*env)->NewStringUTF(env, path));
  jobject named = opened == NULL ? NULL : (*env)->CallObjectMethod(env, opened, to_uri);
  return named == NULL ? NULL : (*env)->CallObjectMethod(env, named, to_url);
}

/* The URLs of the jars, or NULL with an exception pending. */
static jobjectArray urls_of_jars(JNIEnv *env, const struct home *home) {
  char path[PATH_MAX];
  jclass url = (*env)->FindClass(env, "java/net/URL");
  jobjectArray array = (*env)->NewObjectArray(env, home->list.count, url, NULL);
  for (jsize i = 0; array != NULL && i < home->list.count; i++) {
    if (!path_of(path, home->jars, home->list.entries[i]->d_name) || (*env)->PushLocalFrame(env, 16) != JNI_OK) {
      return NULL;
    }
    jobject element = (*env)->PopLocalFrame(env, url_of(env, path));
    if (element == NULL) {
      return NULL;
    }
    (*env)->SetObjectArrayElement(env, array, i, element);
  }
  return array;
}

/* In a JVM of the host's: an own class loader, so that its libraries and Trigon's do not meet. */
static jclass load_beside_host(JNIEnv *env, const struct home *home, const char *name) {
  jobjectArray urls = urls_of_jars(env, home);
  if (urls == NULL) {
    return NULL;
  }
  jclass loader = (*env)->FindClass(env, "java/lang/ClassLoader");
  jclass url_loader = (*env)->FindClass(env, "java/net/URLClassLoader");
  jmethodID platform = (*env)->GetStaticMethodID(env, loader, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  jmethodID new_loader =
      (*env)->GetMethodID(env, url_loader, "<init>", "([Ljava/net/URL;Ljava/lang/ClassLoader;)V");
  jmethodID load = (*env)->GetMethodID(env, loader, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
  jobject parent = (*env)->CallStaticObjectMethod(env, loader, platform);
  jobject jars = (*env)->NewObject(env, url_loader, new_loader, urls, parent);
  return jars == NULL ? NULL
                      : (jclass)(*env)->CallObjectMethod(env, jars, load, (*env)->NewStringUTF(env, name));
}

static bool boot(JNIEnv *env, jclass entry, void *host_block, int *result) {
  jmethodID method = (*env)->GetStaticMethodID(env, entry, "boot", "(J)I");
  if (method == NULL) {
    return fails_with_exception(env, "trigon.entry.PluginEntry has no boot(long): the jars and this library are of "
                                     "different versions");
  }
  *result = (*env)->CallStaticIntMethod(env, entry, method, (jlong)(intptr_t)host_block);
  if ((*env)->ExceptionCheck(env)) {
    return fails_with_exception(env, "the start in Java failed");
  }
  /* its stubs live for ever, and so does the class */
  return (*env)->NewGlobalRef(env, entry) != NULL;
}

/* In the host's JVM, which may be older than Trigon's classes. */
static bool boot_in_running(JavaVM *vm, const struct home *home, void *host_block, int *result) {
  JNIEnv *env = NULL;
  JavaVMAttachArgs arguments = {.version = JNI_VERSION_10, .name = "trigon-boot"};
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &arguments) != JNI_OK) {
    return start_fails("cannot attach to the JVM that runs in this process");
  }
  bool ok;
  if ((*env)->GetVersion(env) < JNI_VERSION_24) {
    ok = start_fails("the JVM that runs in this process is older than Java " JAVA_FEATURE_RELEASE
                     "; run the program with Java " JAVA_FEATURE_RELEASE " or newer, or NCCL in another process");
  } else {
    log_text(NCCL_LOG_INFO, "using the JVM that runs in this process");
    jclass entry = load_beside_host(env, home, "trigon.entry.PluginEntry");
    ok = entry != NULL ? boot(env, entry, host_block, result)
                       : fails_with_exception(env, "cannot load trigon.entry.PluginEntry from the jars");
  }
  (*vm)->DetachCurrentThread(vm);
  return ok;
}

static bool boot_in_new(void *libjvm, const struct home *home, void *host_block, int *result) {
  JavaVM *vm = NULL;
  JNIEnv *env = NULL;
  if (!create_new(libjvm, home, &vm, &env)) {
    return false;
  }
  jclass entry = (*env)->FindClass(env, "trigon/entry/PluginEntry");
  bool ok = entry != NULL ? boot(env, entry, host_block, result)
                          : fails_with_exception(env, "cannot load trigon.entry.PluginEntry from the jars");
  (*vm)->DetachCurrentThread(vm);
  return ok;
}

/* Finds, starts and fills. False: start_failure says why. *result is what Java's boot returned. */
static bool start_java(void *host_block, int *result) {
  static struct home home;
  void *libjvm = NULL;
  if (!find_home(&home) || !open_libjvm(&home, &libjvm)) {
    return false;
  }
  JavaVM *vm = running_jvm(libjvm);
  return vm != NULL ? boot_in_running(vm, &home, host_block, result)
                    : boot_in_new(libjvm, &home, host_block, result);
}

#endif
