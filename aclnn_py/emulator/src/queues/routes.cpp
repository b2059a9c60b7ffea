// SPDX-License-Identifier: Apache-2.0
// Routes between queues: what enters one goes on to others.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/export.h"
#include "core/process.h"
#include "core/slots.h"
#include "queues/queue.h"

struct acltdtQueueRoute : emu::Route {
  explicit acltdtQueueRoute(const emu::Route &route) : emu::Route(route) {}
};

struct acltdtQueueRouteList {
  std::vector<emu::Route> routes;
};

struct acltdtQueueRouteQueryInfo {
  acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
  uint32_t source = 0, target = 0;
  bool has_mode = false, has_source = false, has_target = false;
};

namespace emu {
namespace {

template <class T>
Slots<T> &slots() {
  static auto *const all = new Slots<T>(1 << 12);
  return *all;
}

template <class T>
Status find(const char *routine, const char *name, const T *raw, T **found) {
  EMU_ENTER_AS(routine);
  *found = slots<T>().find(raw);
  if (*found != nullptr) return 0;
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", routine, name);
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %s, %p, is not live.", routine, name,
              static_cast<const void *>(raw));
}

template <class T, class... Args>
T *create(const char *routine, Args &&...args) {
  if (check_process(routine) != 0) return nullptr;
  T *made = slots<T>().create(std::forward<Args>(args)...);
  if (made == nullptr) fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many of them.", routine);
  return made;
}

template <class T>
Status destroy(const char *routine, const char *name, const T *raw) {
  T *found = nullptr;
  if (const Status s = find(routine, name, raw, &found)) return s;
  if (slots<T>().retire(found)) slots<T>().destroy(found);
  return 0;
}

auto same_ends(const Route &route) {
  return [&route](const Route &other) {
    return other.source == route.source && other.target == route.target;
  };
}

// Under the mutex of the queues.
Status bind(const char *routine, Queues &all, Route *route) {
  for (const uint32_t id : {route->source, route->target}) {
    if (all.find(id) == nullptr) return say_no_queue(routine, id);
  }
  const auto known = std::find_if(all.routes.begin(), all.routes.end(), same_ends(*route));
  if (known != all.routes.end()) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the route from %u to %u is there already.", routine,
                route->source, route->target);
  }
  if (all.leads(route->target, route->source)) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the route from %u to %u would close a loop.", routine,
                route->source, route->target);
  }
  all.routes.push_back(*route);
  all.routes.back().status = route->status = ACL_TDT_QUEUE_ROUTE_BIND;
  return 0;
}

Status unbind(const char *routine, Queues &all, Route *route) {
  const auto known = std::find_if(all.routes.begin(), all.routes.end(), same_ends(*route));
  if (known == all.routes.end()) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: there is no route from %u to %u.", routine,
                route->source, route->target);
  }
  all.routes.erase(known);
  route->status = ACL_TDT_QUEUE_ROUTE_UNBIND;
  return 0;
}

// Every route of the list is tried; the first refusal is the answer.
template <class Change>
Status change_all(const char *routine, acltdtQueueRouteList *raw, Change change) {
  acltdtQueueRouteList *list = nullptr;
  if (const Status s = find(routine, "qRouteList", raw, &list)) return s;
  if (list->routes.empty())
    return fail(ACL_ERROR_INVALID_PARAM, "%s: qRouteList has no routes.", routine);
  Queues &all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.routes.reserve(all.routes.size() + list->routes.size());  // nothing throws half-way
  Status first = 0;
  for (Route &route : list->routes) {
    const Status s = change(routine, all, &route);
    if (first == 0) first = s;
  }
  all.settle();
  return first;
}

bool asked_for(const acltdtQueueRouteQueryInfo &info, const Route &route) {
  switch (info.mode) {
    case ACL_TDT_QUEUE_ROUTE_QUERY_SRC: return route.source == info.source;
    case ACL_TDT_QUEUE_ROUTE_QUERY_DST: return route.target == info.target;
    case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST:
      return route.source == info.source && route.target == info.target;
    default: return route.status == ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;
  }
}

Status check_query(const char *routine, const acltdtQueueRouteQueryInfo &info) {
  const bool both = info.mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
  const bool wants_source = both || info.mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
  const bool wants_target = both || info.mode == ACL_TDT_QUEUE_ROUTE_QUERY_DST;
  if (info.has_mode && (info.has_source || !wants_source) && (info.has_target || !wants_target))
    return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "%s: set the mode of the query, and the source and target that it asks for, with "
              "acltdtSetQueueRouteQueryInfo.",
              routine);
}

}  // namespace
}  // namespace emu

using namespace emu;

EMU_EXPORT acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId) try {
  return create<acltdtQueueRoute>(__func__, Route{srcId, dstId, ACL_TDT_QUEUE_ROUTE_UNBIND});
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route) try {
  return destroy(__func__, "route", route);
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route,
                                             acltdtQueueRouteParamType type, size_t len,
                                             size_t *paramRetSize, void *param) try {
  acltdtQueueRoute *found = nullptr;
  if (const Status s = find(__func__, "route", route, &found)) return s;
  if (param == nullptr || paramRetSize == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: param or paramRetSize is null.", __func__);
  if (len < sizeof(uint32_t))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: len is %zu; the parameter has 4 bytes.", __func__,
                len);
  switch (type) {
    case ACL_TDT_QUEUE_ROUTE_SRC_UINT32: std::memcpy(param, &found->source, 4); break;
    case ACL_TDT_QUEUE_ROUTE_DST_UINT32: std::memcpy(param, &found->target, 4); break;
    case ACL_TDT_QUEUE_ROUTE_STATUS_INT32: std::memcpy(param, &found->status, 4); break;
    default:
      return fail(ACL_ERROR_INVALID_PARAM, "%s: type is %d; allowed are 0 to 2.", __func__, type);
  }
  *paramRetSize = 4;
  return 0;
}
EMU_CATCH

EMU_EXPORT acltdtQueueRouteList *acltdtCreateQueueRouteList() try {
  return create<acltdtQueueRouteList>(__func__);
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList) try {
  return destroy(__func__, "routeList", routeList);
}
EMU_CATCH

EMU_EXPORT aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList,
                                        const acltdtQueueRoute *route) try {
  acltdtQueueRouteList *list = nullptr;
  acltdtQueueRoute *found = nullptr;
  if (const Status s = find(__func__, "routeList", routeList, &list)) return s;
  if (const Status s = find(__func__, "route", route, &found)) return s;
  list->routes.push_back(*found);
  return 0;
}
EMU_CATCH

EMU_EXPORT size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList) try {
  acltdtQueueRouteList *list = nullptr;
  return find(__func__, "routeList", routeList, &list) == 0 ? list->routes.size() : 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList, size_t index,
                                        acltdtQueueRoute *route) try {
  acltdtQueueRouteList *list = nullptr;
  acltdtQueueRoute *found = nullptr;
  if (const Status s = find(__func__, "routeList", routeList, &list)) return s;
  if (const Status s = find(__func__, "route", route, &found)) return s;
  if (index >= list->routes.size()) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: index is %zu; the list has %zu routes.", __func__,
                index, list->routes.size());
  }
  static_cast<Route &>(*found) = list->routes[index];
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList) try {
  return change_all(__func__, qRouteList, bind);
}
EMU_CATCH

EMU_EXPORT aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList) try {
  return change_all(__func__, qRouteList, unbind);
}
EMU_CATCH

EMU_EXPORT acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo() try {
  return create<acltdtQueueRouteQueryInfo>(__func__);
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info) try {
  return destroy(__func__, "info", info);
}
EMU_CATCH

EMU_EXPORT aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param,
                                                 acltdtQueueRouteQueryInfoParamType type,
                                                 size_t len, const void *value) try {
  acltdtQueueRouteQueryInfo *info = nullptr;
  if (const Status s = find(__func__, "param", param, &info)) return s;
  if (value == nullptr || len < 4) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: value is %s and len %zu; the value has 4 bytes.",
                __func__, value == nullptr ? "null" : "given", len);
  }
  uint32_t number = 0;
  std::memcpy(&number, value, sizeof number);
  switch (type) {
    case ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM:
      if (number > ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST &&
          number != ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL) {
        return fail(ACL_ERROR_INVALID_PARAM, "%s: the mode is %u; allowed are 0 to 2 and 100.",
                    __func__, number);
      }
      info->mode = static_cast<acltdtQueueRouteQueryMode>(number);
      info->has_mode = true;
      return 0;
    case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32:
      info->source = number;
      info->has_source = true;
      return 0;
    case ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32:
      info->target = number;
      info->has_target = true;
      return 0;
  }
  return fail(ACL_ERROR_INVALID_PARAM, "%s: type is %d; allowed are 0 to 2.", __func__, type);
}
EMU_CATCH

// Adds the routes that are asked for to the list.
EMU_EXPORT aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo *queryInfo,
                                           acltdtQueueRouteList *qRouteList) try {
  acltdtQueueRouteQueryInfo *info = nullptr;
  acltdtQueueRouteList *list = nullptr;
  if (const Status s = find(__func__, "queryInfo", queryInfo, &info)) return s;
  if (const Status s = find(__func__, "qRouteList", qRouteList, &list)) return s;
  if (const Status s = check_query(__func__, *info)) return s;
  Queues &all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (const Route &route : all.routes) {
    if (asked_for(*info, route)) list->routes.push_back(route);
  }
  return 0;
}
EMU_CATCH
